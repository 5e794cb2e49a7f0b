"""The plans that there are, by name."""

from __future__ import annotations

from testbed.runs.plans import ecn, rocev2
from testbed.runs.plans.case import TestPlan

PLANS: dict[str, TestPlan] = {plan.name: plan for plan in (rocev2.PLAN, ecn.PLAN)}
RATES = (100e9, 400e9, 800e9)  # bit/s of every line
