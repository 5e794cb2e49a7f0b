"""What an agent measures about itself while it runs."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from testbed.agent.histogram import TimeHistogram
from testbed.base.shared import Shared
from testbed.results.trace import DecisionTrace

DECISION_BINS_PER_OCTAVE = 2


class Meter:
    """What an agent measures about itself, in memory that the recorder reads."""

    def __init__(self, rtt_bins: int, trace: DecisionTrace | None = None, *, hosts: int = 1) -> None:
        """``hosts`` that the agent serves."""
        self.trace = trace or DecisionTrace(0, 0)
        self.rtt = TimeHistogram(rtt_bins)
        self.messages = TimeHistogram(rtt_bins)
        self.pacing_lag = TimeHistogram(4)
        self.feedback_lag = TimeHistogram(4)
        self.timer_lag = TimeHistogram(4)
        self.decisions = Shared.ints(2)  # calls, rows
        self.decision_seconds = Shared.floats(1)  # wall time, sum
        self.decision_times = TimeHistogram(DECISION_BINS_PER_OCTAVE)  # wall time
        self.clock_jump = Shared.floats(1)  # wall s by which the two clocks of this machine diverged
        self.given_up = Shared.floats(hosts)  # s of its line that a host did not use though it had packets to send
        # refused sends, ring high-water bytes, steps, swaps, INT faults, rates above line, queue pairs in error
        self.counters = Shared.ints(7)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Everything but the trace, by name."""
        found: dict[str, NDArray[Any]] = {}
        for name, value in vars(self).items():
            if isinstance(value, TimeHistogram):
                found |= {f"{name}.counts": value.counts, f"{name}.top": value.top, f"{name}.bottom": value.bottom}
            elif name != "trace":
                found[name] = value
        return found
