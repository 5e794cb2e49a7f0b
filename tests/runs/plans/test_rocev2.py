"""SONiC RoCEv2 test plan on one switch: each expectation holds, and fails if it is broken."""

from __future__ import annotations

import pytest

from testbed.runs.plans.case import Case
from testbed.runs.plans.rocev2 import PLAN
from tests.support.plans import wrong

SEVERAL_PATHS = {"7", "8", "9", "10"}  # tests.runs.plans.test_fabric


@pytest.mark.parametrize(
    "case", [case for case in PLAN.cases if case.key not in SEVERAL_PATHS], ids=lambda case: case.key
)
def test_it_holds_until_it_is_broken(case: Case) -> None:
    assert wrong(case) == []
