"""The figures of the papers as pure functions, each with its definition, where it is from and its trap.

Everything is SI and nominal: seconds, bytes, bit/s; SU, FR and LBW are percentages as the papers print them. A figure
that cannot be known (an empty window, no flow to compare) is nan, never a plausible number. Sources: "sheet 8" is the
metrics table of the facts sheet on controllers, ADPG, DECC and PET are the papers. docs/results.md has them side by
side.

One *window* is used throughout: from the end of the warm-up to the end of the run, as far as there are samples.
Counters are cumulative and are interpolated at its two ends, so it need not fall on sample times. Flow completion
times are of the whole run.
"""

from __future__ import annotations

from testbed.results.figures.cost import decision_per_call, decision_per_row
from testbed.results.figures.fairness import (
    ENOUGH_OF_WINDOW,
    fairness_ratio,
    jain,
    per_host,
    steady_flows,
    steady_rates,
)
from testbed.results.figures.fct import (
    DECADES,
    ELEPHANT,
    PARTS,
    Completion,
    SizeBin,
    completion,
    completion_by_class,
    completion_of,
    ideal_fct,
    slowdown_by_decade,
    slowdown_by_share,
)
from testbed.results.figures.latency import (
    QueueLength,
    base_rtt,
    busiest_queue_latency,
    packet_delay,
    port_queue_latency,
    queue_latency_max,
    queue_latency_mean,
    queue_latency_quantile,
    queue_length,
    receiver_queue_latency,
)
from testbed.results.figures.long_short import APART, FULL, SLOWED, Recovery, recovery
from testbed.results.figures.loss import Packets, drop_rate, loss_per_flow, loss_share, packets
from testbed.results.figures.operations import Messages, messages
from testbed.results.figures.pauses import most_paused_port, pause_frames, paused_share
from testbed.results.figures.spans import Window, growth, window
from testbed.results.figures.throughput import (
    flow_goodput,
    long_bandwidth,
    port_utilisation,
    receiver_ports,
    receiver_utilisation,
    utilisation,
)
from testbed.results.figures.unknown import NAN

__all__ = [
    "APART",
    "DECADES",
    "ELEPHANT",
    "ENOUGH_OF_WINDOW",
    "FULL",
    "NAN",
    "PARTS",
    "SLOWED",
    "Completion",
    "Messages",
    "Packets",
    "QueueLength",
    "Recovery",
    "SizeBin",
    "Window",
    "base_rtt",
    "busiest_queue_latency",
    "completion",
    "completion_by_class",
    "completion_of",
    "decision_per_call",
    "decision_per_row",
    "drop_rate",
    "fairness_ratio",
    "flow_goodput",
    "growth",
    "ideal_fct",
    "jain",
    "long_bandwidth",
    "loss_per_flow",
    "loss_share",
    "messages",
    "most_paused_port",
    "packet_delay",
    "packets",
    "pause_frames",
    "paused_share",
    "per_host",
    "port_queue_latency",
    "port_utilisation",
    "queue_latency_max",
    "queue_latency_mean",
    "queue_latency_quantile",
    "queue_length",
    "receiver_ports",
    "receiver_queue_latency",
    "receiver_utilisation",
    "recovery",
    "slowdown_by_decade",
    "slowdown_by_share",
    "steady_flows",
    "steady_rates",
    "utilisation",
    "window",
]
