"""Histograms that a run exports, and which of the bins that were counted they show."""

from __future__ import annotations

import numpy as np

from testbed.agent.columns import RTT_BINS_PER_OCTAVE
from testbed.agent.histogram import edges
from testbed.agent.meter import DECISION_BINS_PER_OCTAVE
from testbed.base.arrays import Floats
from testbed.live.metric import Distribution
from testbed.live.snapshot import QUEUE_LIMITS, Counted


def _ends(per_octave: int, first: float, last: float) -> tuple[Floats, int, int]:
    """Upper bounds from ``first`` to ``last`` (s) among a time histogram's edges, and their positions."""
    all_edges = edges(per_octave)
    low, high = np.searchsorted(all_edges, (first, last))
    return all_edges[low : high + 1], int(low), int(high)


RTT_LIMITS, *RTT_BINS = _ends(RTT_BINS_PER_OCTAVE, 2e-6, 1.5e-3)
DECISION_LIMITS, *DECISION_BINS = _ends(DECISION_BINS_PER_OCTAVE, 1e-6, 2e-2)


def _clipped(counted: Counted, low: int, high: int) -> Counted:
    """Everything below the first limit in the first bin, everything beyond the last one in the last bin."""
    counts = counted.counts
    parts = (counts[..., :low], counts[..., low:high], counts[..., high:])
    first, middle, last = parts
    joined = np.concatenate((first.sum(-1, keepdims=True), middle, last.sum(-1, keepdims=True)), axis=-1)
    return Counted(joined, counted.total)


DISTRIBUTIONS = (
    Distribution(
        "testbed_port_arrival_queue_bytes",
        "port",
        "Queue found by arriving packets.",
        (0.0, *QUEUE_LIMITS),
        lambda now: now.queue_found,
    ),
    Distribution(
        "testbed_flow_rtt_seconds",
        "flow",
        "RTT, one sample per acknowledgement.",
        RTT_LIMITS.tolist(),
        lambda now: _clipped(now.flow_rtt, *RTT_BINS),
    ),
    Distribution(
        "testbed_controller_rtt_seconds",
        "controller",
        "RTT of its flows, one sample per acknowledgement.",
        RTT_LIMITS.tolist(),
        lambda now: _clipped(now.controller_rtt, *RTT_BINS),
    ),
    Distribution(
        "testbed_decision_seconds",
        "",
        "Wall time of one call of the controller.",
        DECISION_LIMITS.tolist(),
        lambda now: _clipped(now.decision_time, *DECISION_BINS),
    ),
)
