"""The times that include the start of a run, which other figures leave out: they are of the window after it."""

from __future__ import annotations

import numpy as np

from testbed.results.figures.spans import window
from testbed.results.record import RunRecord


def timed_from_start(record: RunRecord) -> str:
    """What is timed that began before the window, in words; empty for nothing."""
    begin = window(record).start
    if (record.steps.begin < begin).any():
        return "times of iterations"
    flows = int((np.isfinite(record.flows.finished) & (record.flows.start < begin)).sum())
    return f"completion times of {flows} flows" if flows else ""
