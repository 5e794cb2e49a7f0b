"""How late the emulation was between two moments of a run: in its start, and in the window that figures are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from testbed.agent.histogram import TimeHistogram
from testbed.agent.meter import Meter
from testbed.base.arrays import Floats, Ints
from testbed.fidelity.processors import least
from testbed.results.record import Histogram, Lag, Lateness


@dataclass(frozen=True)
class Counted:
    """Everything that is late, counted from the start of the run until a moment."""

    time: float
    pacing: Late
    feedback: Late
    timers: Late
    shaped: Floats  # see `testbed.live.observed.Network.shaped`
    given_up: Floats  # s of its line, per sending host
    idle: Sequence[float]  # shares of the busiest core, per half second

    @classmethod
    def until(cls, now: float, meters: Sequence[Meter], shaped: Floats, idle: Sequence[float]) -> Counted:
        """From the counters as they are now."""
        return cls(
            time=now,
            pacing=Late.of([meter.pacing_lag for meter in meters]),
            feedback=Late.of([meter.feedback_lag for meter in meters]),
            timers=Late.of([meter.timer_lag for meter in meters]),
            shaped=shaped,
            given_up=np.concatenate([meter.given_up for meter in meters]),
            idle=tuple(idle),
        )

    def since(self, before: Counted | None) -> Lateness:
        """Between that moment, or the start of the run, and this one.

        Of the cores it is the half seconds that ended since; where none did, the last one that had.
        """
        given, late = self.shaped - (before.shaped if before else 0.0)
        given_up = self.given_up - (before.given_up if before else 0.0)
        idle = self.idle[len(before.idle) if before else 0 :] or self.idle[-1:]
        length = self.time - (before.time if before else 0.0)
        return Lateness(
            pacing_lag=self.pacing.since(before.pacing if before else None),
            feedback_lag=self.feedback.since(before.feedback if before else None),
            timer_lag=self.timers.since(before.timers if before else None),
            cpu_idle=least(idle),
            cpu_idle_mean=float(np.mean(idle)) if idle else 1.0,
            stalled_bytes=float(late),
            stalled_share=float(late / max(1.0, given)),
            line_given_up=float(given_up.max(initial=0.0) / length) if length > 0 else 0.0,
        )


@dataclass(frozen=True)
class Late:
    """Histograms of all agents as one, and the largest time so far."""

    edges: Floats
    counts: Ints
    largest: float

    @classmethod
    def of(cls, histograms: list[TimeHistogram]) -> Late:
        """As they are now."""
        counts = np.asarray(np.sum([one.counts for one in histograms], axis=0), np.int64)
        return cls(histograms[0].edges, counts, max(float(one.top[0]) for one in histograms))

    def since(self, before: Late | None) -> Lag:
        """The largest is known where it is the largest of all; else it is the end of the last bin that has grown."""
        if before is None:
            return Lag(Histogram(self.edges, self.counts), self.largest)
        grown = self.counts - before.counts
        if self.largest > before.largest:
            return Lag(Histogram(self.edges, grown), self.largest)
        bins = np.flatnonzero(grown)
        end = float(self.edges[bins[-1] + 1]) if len(bins) else 0.0
        return Lag(Histogram(self.edges, grown), min(end, self.largest))
