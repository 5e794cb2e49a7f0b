"""What the controller cost."""

from __future__ import annotations

from testbed.results.figures.unknown import ratio
from testbed.results.record import RunRecord


def decision_per_call(record: RunRecord) -> float:
    """Seconds of *wall* time that one call of the controller took, on average."""
    return ratio(record.decisions.seconds, record.decisions.calls)


def decision_per_row(record: RunRecord) -> float:
    """Seconds of *wall* time per flow decided about: what papers call the decision time. A call decides for many."""
    return ratio(record.decisions.seconds, record.decisions.rows)
