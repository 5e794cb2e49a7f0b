"""Plans of patterns that know their own size."""

from __future__ import annotations

from testbed.experiment.traffic.pattern import Context, Pattern
from testbed.experiment.traffic.plan import Plan

CONTEXT = Context(hosts=16, line_rate=100e9, end=30e-3, seed=(1,))


def made(pattern: Pattern, context: Context = CONTEXT) -> Plan:
    plan = pattern.plan(context)
    assert len(plan) == pattern.flow_count(context)
    assert max(plan.src_number.max(), plan.dst_number.max()) == pattern.hosts_needed()
    return plan
