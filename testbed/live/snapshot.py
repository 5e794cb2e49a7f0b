"""The state of a run at one moment, small enough to be sent out of the sandbox a few times a second.

Counters are cumulative since the run began: the exporter shows them as they are, the live page what happened between
two of them. Nominal SI units, but for the controller's decisions, which take wall time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.dataplane import histogram as queue_bins
from testbed.live.spans import Spans
from testbed.results.figures.jobs import JobNow
from testbed.results.tuner_log import TunerNow

QUEUE_LIMITS = tuple(float(1 << k) for k in range(10, 25))  # bytes; bin edges of the port program
FLOW_COUNTERS = ("acked_payload", "sent", "acked", "ce", "lost", "late", "timeouts", "cnps", "naks")
CONTROLLER_COUNTERS = ("acked_payload", "acked", "ce")


@dataclass(frozen=True)
class Counted:
    """A histogram: counts per bin, shape (..., bins), and the sum of all values, shape (...)."""

    counts: Ints
    total: Floats


@dataclass(frozen=True)
class Snapshot:
    """Columns of shape (p,) per port and (g,) per flow or sending host, as `Scene` lists them."""

    time: float
    ports: dict[str, Floats]  # as in `PortSeries`
    queue_found: Counted  # by arriving packets; bins between 0, 1 and `QUEUE_LIMITS`, and one beyond
    flows: dict[str, Floats | Ints]  # `FLOW_COUNTERS`; active, rate, window, inflight (sums); rtt (newest, mean)
    flow_rtt: Counted  # bins of `Flows.rtt_counts`
    controllers: dict[str, Ints]  # shape (c,), as the scene lists them: `CONTROLLER_COUNTERS`, active
    controller_rtt: Counted  # bins of `Flows.rtt_counts`
    rtt: Ints  # all acknowledgements, bins of `Meter.rtt`
    decision_time: Counted  # wall s per call, bins of `Meter.decision_times`
    decided: int  # rows
    distortion: dict[str, float]  # limit to measured / allowed
    tuners: tuple[TunerNow, ...]  # one per switch
    reasons: tuple[str, ...]  # why the run would be degraded if it ended now
    queues: dict[str, Floats] = field(default_factory=dict)  # of all queues, as the scene lists them; else nothing
    jobs: tuple[JobNow, ...] = ()  # as the scene lists them
    spans: Spans = field(default_factory=Spans.none)  # what the ranks of jobs did since the last snapshot


def coarse_queue(counts: Ints) -> Ints:
    """The port program's bins, shape (p, bins), as the bins of `Snapshot.queue_found`."""
    first = queue_bins.edges()[:-1].searchsorted((0.0, 1.0, *QUEUE_LIMITS))
    return np.asarray(np.add.reduceat(counts, first, axis=-1), np.int64)
