"""SONiC's ECN plans on our switch: each expectation holds, and fails if it is broken."""

from __future__ import annotations

import pytest

from testbed.runs.plans.case import Case
from testbed.runs.plans.ecn import PLAN
from tests.support.plans import wrong


@pytest.mark.parametrize("case", PLAN.cases, ids=lambda case: case.key)
def test_it_holds_until_it_is_broken(case: Case) -> None:
    assert wrong(case) == []
