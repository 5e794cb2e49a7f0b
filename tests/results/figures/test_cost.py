"""What decisions cost."""

from __future__ import annotations

import pytest

from testbed.results.figures import cost
from tests.support.synthetic_runs import run


def test_decision_time() -> None:
    record = run()
    assert cost.decision_per_call(record) == pytest.approx(128e-6)
    assert cost.decision_per_row(record) == pytest.approx(2e-6)
