"""Every metric that a run exports: name, meaning, and where its value is. The documentation is generated from it.

Names follow the conventions of Prometheus: base units, ``_total`` for counters, one meaning per name. Times and rates
are nominal, but for decisions, which take wall time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from testbed import __version__
from testbed.agent.columns import RTT_BINS_PER_OCTAVE
from testbed.agent.histogram import edges
from testbed.agent.meter import DECISION_BINS_PER_OCTAVE
from testbed.base.arrays import Floats, Ints
from testbed.live.scene import Scene
from testbed.live.snapshot import QUEUE_LIMITS, Counted, Snapshot

Labels = Literal["", "port", "queue", "flow", "controller", "job", "limit", "switch", "state"]
LABELS: dict[Labels, tuple[str, ...]] = {
    "": (),
    "port": ("port",),
    "queue": ("port", "queue", "class"),
    "flow": ("flow",),
    "controller": ("controller",),
    "job": ("job",),
    "limit": ("limit",),
    "switch": ("switch",),
    "state": ("switch", "state"),
}
"""What a metric has one value for, and the labels that say which."""

Column = Floats | Ints | Sequence[float]


class Info(NamedTuple):
    """A constant 1 whose labels carry the information: other metrics leave it out, since labels cost a scrape most."""

    name: str
    help: str
    labels: tuple[str, ...]
    read: Callable[[Scene], Iterable[Sequence[str]]]


class Constant(NamedTuple):
    """A gauge that does not change while the run goes on."""

    name: str
    per: Labels
    help: str
    read: Callable[[Scene], Column]


@dataclass(frozen=True)
class Metric:
    """A counter or gauge; one value per label set."""

    kind: Literal["counter", "gauge"]
    name: str
    per: Labels
    help: str
    read: Callable[[Snapshot], Column]


@dataclass(frozen=True)
class Distribution:
    """A histogram; one per label set. Bin i of its counts ends at ``limits[i]``, the last one has no end."""

    name: str
    per: Labels
    help: str
    limits: Sequence[float]
    read: Callable[[Snapshot], Counted]


INFOS = (
    Info("testbed_build_info", "The version of testbed that runs.", ("version",), lambda _scene: [(__version__,)]),
    Info(
        "testbed_run_info",
        "The run: its results folder, experiment, plugins and seed.",
        ("run", "experiment", "controller", "tuner", "seed"),
        lambda scene: [(scene.run, scene.experiment, scene.controller, scene.tuner, str(scene.seed))],
    ),
    Info(
        "testbed_port_info",
        "The switch of a port, and the host or switch that its link leads to.",
        ("port", "switch", "to"),
        lambda scene: [(port.name, port.switch, port.to) for port in scene.ports],
    ),
    Info(
        "testbed_flow_info",
        "Sender and receiver of a flow; `*` is all flows of a sender.",
        ("flow", "src", "dst"),
        lambda scene: scene.flows,
    ),
)

CONSTANTS = (
    Constant(
        "testbed_dilation_ratio",
        "",
        "Wall seconds per nominal second; NaN where no wall time is emulated.",
        lambda scene: [math.nan if scene.dilation is None else scene.dilation],
    ),
    Constant("testbed_run_duration_seconds", "", "Planned length of the run.", lambda scene: [scene.duration]),
    Constant(
        "testbed_run_warmup_seconds",
        "",
        "Beginning of the run that its figures leave out.",
        lambda scene: [scene.warmup],
    ),
    Constant(
        "testbed_base_rtt_seconds",
        "",
        "RTT of a full packet in an empty rack, of the median flow.",
        lambda scene: [scene.base_rtt],
    ),
    Constant(
        "testbed_port_capacity_bytes_per_second",
        "port",
        "Rate of the port's link.",
        lambda scene: [port.rate / 8 for port in scene.ports],
    ),
    Constant(
        "testbed_port_buffer_bytes",
        "port",
        "Queue space of the port; what exceeds it is dropped.",
        lambda scene: [port.buffer for port in scene.ports],
    ),
)


def _of_port(column: str) -> Callable[[Snapshot], Column]:
    return lambda now: now.ports[column]


def _of_queue(column: str) -> Callable[[Snapshot], Column]:
    return lambda now: now.queues.get(column, ())


def _of_tuner(column: str) -> Callable[[Snapshot], Column]:
    return lambda now: [getattr(one, column) for one in now.tuners]


def _of_controller(column: str) -> Callable[[Snapshot], Column]:
    return lambda now: now.controllers[column]


def _of_job(column: str) -> Callable[[Snapshot], Column]:
    return lambda now: [getattr(one, column) for one in now.jobs]


def _of_flow(column: str) -> Callable[[Snapshot], Column]:
    return lambda now: now.flows[column]


METRICS = (
    Metric("gauge", "testbed_nominal_time_seconds", "", "Time since the run began.", lambda now: [now.time]),
    Metric("counter", "testbed_port_tx_bytes", "port", "Bytes on the wire that left the port.", _of_port("tx_bytes")),
    Metric(
        "counter",
        "testbed_port_tx_packets",
        "port",
        "Packets that the port enqueued.",
        _of_port("tx_packets"),
    ),
    Metric(
        "counter", "testbed_port_marked_packets", "port", "Packets that the port marked CE.", _of_port("marked_packets")
    ),
    Metric(
        "counter",
        "testbed_port_dropped_packets",
        "port",
        "Packets dropped by the buffer limit or the loss model, or on a link that was down.",
        _of_port("dropped_packets"),
    ),
    Metric("gauge", "testbed_port_queue_bytes", "port", "Queue now.", _of_port("queue")),
    Metric("gauge", "testbed_port_kmin_bytes", "port", "RED's active Kmin.", _of_port("kmin")),
    Metric("gauge", "testbed_port_kmax_bytes", "port", "RED's active Kmax.", _of_port("kmax")),
    Metric("gauge", "testbed_port_pmax_ratio", "port", "RED's active Pmax.", _of_port("pmax")),
    Metric(
        "gauge",
        "testbed_port_ingress_bytes",
        "port",
        "Lossless bytes that came in here and have not left the switch; 0 without PFC.",
        _of_port("ingress"),
    ),
    Metric(
        "counter",
        "testbed_port_pause_frames",
        "port",
        "PFC frames that the port sent to its peer.",
        _of_port("pause_frames"),
    ),
    Metric(
        "counter",
        "testbed_port_paused_seconds",
        "port",
        "Time for which the port's peer was paused.",
        _of_port("paused"),
    ),
    Metric("gauge", "testbed_queue_depth_bytes", "queue", "Depth now of one of a port's queues.", _of_queue("queue")),
    Metric(
        "gauge",
        "testbed_queue_watermark_bytes",
        "queue",
        "Highest depth of the queue since the run began.",
        _of_queue("peak_queue"),
    ),
    Metric(
        "counter", "testbed_queue_tx_bytes", "queue", "Bytes on the wire that left the queue.", _of_queue("tx_bytes")
    ),
    Metric(
        "counter",
        "testbed_queue_marked_packets",
        "queue",
        "Packets marked CE in the queue.",
        _of_queue("marked_packets"),
    ),
    Metric(
        "counter",
        "testbed_queue_dropped_packets",
        "queue",
        "Packets that the queue had no room for, or dropped by WRED.",
        _of_queue("dropped_packets"),
    ),
    Metric("gauge", "testbed_queue_kmin_bytes", "queue", "RED's active Kmin of the queue.", _of_queue("kmin")),
    Metric(
        "gauge",
        "testbed_flow_active_flows",
        "flow",
        "1 from the start of the flow to its end, else 0; of a sending host how many are.",
        _of_flow("active"),
    ),
    Metric("counter", "testbed_flow_acked_bytes", "flow", "Payload that was acknowledged.", _of_flow("acked_payload")),
    Metric(
        "counter", "testbed_flow_sent_packets", "flow", "Data packets sent, retransmissions included.", _of_flow("sent")
    ),
    Metric("counter", "testbed_flow_acked_packets", "flow", "Data packets acknowledged.", _of_flow("acked")),
    Metric("counter", "testbed_flow_ce_packets", "flow", "Acknowledgements that echo CE.", _of_flow("ce")),
    Metric(
        "counter",
        "testbed_flow_lost_packets",
        "flow",
        "Packets that the sender declared lost; some are acknowledged late.",
        lambda now: now.flows["lost"] + now.flows["late"],  # lost alone falls when one is acknowledged
    ),
    Metric(
        "counter",
        "testbed_flow_late_packets",
        "flow",
        "Packets acknowledged after they were declared lost.",
        _of_flow("late"),
    ),
    Metric("counter", "testbed_flow_timeouts", "flow", "Retransmission timeouts.", _of_flow("timeouts")),
    Metric("counter", "testbed_flow_cnps", "flow", "Congestion notification packets received.", _of_flow("cnps")),
    Metric(
        "gauge",
        "testbed_flow_rate_bytes_per_second",
        "flow",
        "Rate set by the controller; +Inf if it sets none.",
        lambda now: now.flows["rate"] / 8,
    ),
    Metric(
        "gauge",
        "testbed_flow_window_bytes",
        "flow",
        "Window set by the controller; +Inf if it sets none.",
        _of_flow("window"),
    ),
    Metric("gauge", "testbed_flow_inflight_bytes", "flow", "Sent and not yet acknowledged.", _of_flow("inflight")),
    Metric(
        "gauge",
        "testbed_controller_active_flows",
        "controller",
        "Flows that it decides about, from their starts to their ends.",
        _of_controller("active"),
    ),
    Metric(
        "counter",
        "testbed_controller_acked_bytes",
        "controller",
        "Payload of its flows that was acknowledged.",
        _of_controller("acked_payload"),
    ),
    Metric(
        "counter",
        "testbed_controller_acked_packets",
        "controller",
        "Data packets of its flows that were acknowledged.",
        _of_controller("acked"),
    ),
    Metric(
        "counter",
        "testbed_controller_ce_packets",
        "controller",
        "Acknowledgements of its flows that echo CE.",
        _of_controller("ce"),
    ),
    Metric("counter", "testbed_job_iterations", "job", "Iterations that all ranks have done.", _of_job("iterations")),
    Metric(
        "gauge",
        "testbed_job_last_iteration_seconds",
        "job",
        "Completion time of the last of them; NaN before.",
        _of_job("last"),
    ),
    Metric(
        "gauge",
        "testbed_job_straggler_ratio",
        "job",
        "Slowest rank's time of an iteration / the median rank's, mean so far; NaN before.",
        _of_job("straggler"),
    ),
    Metric(
        "gauge",
        "testbed_job_bus_bandwidth_bytes_per_second",
        "job",
        "Bus bandwidth of its operations so far, as nccl-tests defines it; NaN before, and of other jobs.",
        lambda now: [one.bus_bandwidth / 8 for one in now.jobs],
    ),
    Metric("counter", "testbed_decided_flows", "", "Flow decisions of the controllers.", lambda now: [now.decided]),
    Metric(
        "gauge",
        "testbed_tuner_reward_ratio",
        "switch",
        "Reward of a learned tuner's last slot; NaN if it reports none.",
        _of_tuner("reward"),
    ),
    Metric(
        "gauge",
        "testbed_tuner_state_info",
        "state",
        "1 for the state of a learning tuner: baseline, exploring, frozen or fallen back; other tuners have no series.",
        lambda now: [1.0 for one in now.tuners if one.state],
    ),
    Metric(
        "counter", "testbed_tuner_decisions", "switch", "Slots after which the tuner decided.", _of_tuner("decisions")
    ),
    Metric(
        "counter",
        "testbed_tuner_decision_seconds",
        "switch",
        "CPU time that its decisions took.",
        _of_tuner("seconds"),
    ),
    Metric(
        "counter",
        "testbed_tuner_refusals",
        "switch",
        "Decisions rejected because their thresholds were invalid; the previous ones stayed active.",
        _of_tuner("refusals"),
    ),
    Metric(
        "gauge",
        "testbed_distortion_ratio",
        "limit",
        "Measured distortion / what a clean run may have; above 1 the run is degraded.",
        lambda now: list(now.distortion.values()),
    ),
)


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
        "RTT of the controller's flows, one sample per acknowledgement.",
        RTT_LIMITS.tolist(),
        lambda now: _clipped(now.controller_rtt, *RTT_BINS),
    ),
    Distribution(
        "testbed_decision_seconds",
        "",
        "Wall time of one call of the controller; in the batch form it decides for many flows.",
        DECISION_LIMITS.tolist(),
        lambda now: _clipped(now.decision_time, *DECISION_BINS),
    ),
)


def exported_names() -> list[str]:
    """As a query uses them: counters end in ``_total``, histograms are without their suffixes."""
    counters = [f"{one.name}_total" if one.kind == "counter" else one.name for one in METRICS]
    others = [one.name for table in (INFOS, CONSTANTS, DISTRIBUTIONS) for one in table]
    return [*others, *counters]
