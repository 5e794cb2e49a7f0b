"""SONiC's ECN plans on our switch: each expectation holds, and fails if it is broken."""

from __future__ import annotations

import pytest

from testbed.runs.plans.case import Case
from testbed.runs.plans.ecn import PLAN
from tests.support.plans import wrong

NOT_YET = {"order"}  # PFC of one queue among several


@pytest.mark.parametrize("case", [case for case in PLAN.cases if case.key not in NOT_YET], ids=lambda case: case.key)
def test_it_holds_until_it_is_broken(case: Case) -> None:
    assert wrong(case) == []
