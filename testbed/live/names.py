"""Every metric that a run exports: name, meaning, and where its value is. The documentation is generated from it.

Names follow the conventions of Prometheus: base units, ``_total`` for counters, one meaning per name. Times and rates
are nominal, but for decisions, which take wall time.
"""

from __future__ import annotations

import math
from functools import partial

from testbed import __version__
from testbed.live.metric import Constant, Info, Metric

counter, gauge = partial(Metric, "counter"), partial(Metric, "gauge")

INFOS = (
    Info("testbed_build_info", "The version of testbed that runs.", ("version",), lambda _scene: [(__version__,)]),
    Info(
        "testbed_run_info",
        "The run's folder, experiment, plugins and seed.",
        ("run", "experiment", "controller", "tuner", "seed"),
        lambda scene: [(scene.run, scene.experiment, scene.controller, scene.tuner, str(scene.seed))],
    ),
    Info(
        "testbed_port_info",
        "A port's switch, and where its link leads.",
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
        "Length of the warm-up.",
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
        "Queue space of the port.",
        lambda scene: [port.buffer for port in scene.ports],
    ),
)

# fmt: off
METRICS = (
    gauge("testbed_nominal_time_seconds", "", "time", "Time since the run began."),
    counter("testbed_port_tx_bytes", "port", "tx_bytes", "Bytes on the wire that left the port."),
    counter("testbed_port_tx_packets", "port", "tx_packets", "Packets that the port enqueued."),
    counter("testbed_port_marked_packets", "port", "marked_packets", "Packets that the port marked CE."),
    counter("testbed_port_dropped_packets", "port", "dropped_packets",
        "Packets dropped: buffer full, lost at random, or link down."),
    gauge("testbed_port_queue_bytes", "port", "queue", "Queue now."),
    gauge("testbed_port_kmin_bytes", "port", "kmin", "RED's active Kmin."),
    gauge("testbed_port_kmax_bytes", "port", "kmax", "RED's active Kmax."),
    gauge("testbed_port_pmax_ratio", "port", "pmax", "RED's active Pmax."),
    gauge("testbed_port_ingress_bytes", "port", "ingress",
        "Lossless bytes that came in here and have not left the switch."),
    counter("testbed_port_pause_frames", "port", "pause_frames", "PFC frames that the port sent to its peer."),
    counter("testbed_port_paused_seconds", "port", "paused", "Time for which the port's peer was paused."),

    gauge("testbed_queue_depth_bytes", "queue", "queue", "Depth now of one of a port's queues."),
    gauge("testbed_queue_watermark_bytes", "queue", "peak_queue", "Highest depth of the queue since the run began."),
    counter("testbed_queue_tx_bytes", "queue", "tx_bytes", "Bytes on the wire that left the queue."),
    counter("testbed_queue_marked_packets", "queue", "marked_packets", "Packets marked CE in the queue."),
    counter("testbed_queue_dropped_packets", "queue", "dropped_packets",
        "Packets dropped: no room, or WRED."),
    gauge("testbed_queue_kmin_bytes", "queue", "kmin", "RED's active Kmin of the queue."),

    gauge("testbed_flow_active_flows", "flow", "active",
        "1 while the flow goes on, else 0; of a sending host how many do."),
    counter("testbed_flow_acked_bytes", "flow", "acked_payload", "Payload that was acknowledged."),
    counter("testbed_flow_sent_packets", "flow", "sent", "Data packets sent, retransmissions included."),
    counter("testbed_flow_acked_packets", "flow", "acked", "Data packets acknowledged."),
    counter("testbed_flow_ce_packets", "flow", "ce", "Acknowledgements that echo CE."),
    counter("testbed_flow_lost_packets", "flow",
        lambda now: now.flows["lost"] + now.flows["late"],  # lost alone falls when one is acknowledged
        "Packets declared lost; some are acknowledged late."),
    counter("testbed_flow_late_packets", "flow", "late", "Lost packets that were acknowledged later."),
    counter("testbed_flow_timeouts", "flow", "timeouts", "Retransmission timeouts."),
    counter("testbed_flow_naks", "flow", "naks", "NAKs received; none with recovery per packet."),
    counter("testbed_flow_cnps", "flow", "cnps", "Congestion notification packets received."),
    gauge("testbed_flow_rate_bytes_per_second", "flow", lambda now: now.flows["rate"] / 8,
        "Rate set by the controller; +Inf if it sets none."),
    gauge("testbed_flow_window_bytes", "flow", "window", "Window set by the controller; +Inf if it sets none."),
    gauge("testbed_flow_inflight_bytes", "flow", "inflight", "Sent and not yet acknowledged."),

    gauge("testbed_controller_active_flows", "controller", "active",
        "Flows that it decides about."),
    counter("testbed_controller_acked_bytes", "controller", "acked_payload",
        "Payload of its flows that was acknowledged."),
    counter("testbed_controller_acked_packets", "controller", "acked",
        "Data packets of its flows that were acknowledged."),
    counter("testbed_controller_ce_packets", "controller", "ce", "Acknowledgements of its flows that echo CE."),

    counter("testbed_job_iterations", "job", "iterations", "Iterations that all ranks have done."),
    gauge("testbed_job_last_iteration_seconds", "job", "last", "Completion time of the last of them; NaN before."),
    gauge("testbed_job_straggler_ratio", "job", "straggler",
        "Slowest rank's time / the median rank's, mean so far."),
    gauge("testbed_job_bus_bandwidth_bytes_per_second", "job", lambda now: [one.bus_bandwidth / 8 for one in now.jobs],
        "Bus bandwidth so far, as in nccl-tests."),

    counter("testbed_decided_flows", "", "decided", "Flow decisions of the controllers."),
    gauge("testbed_tuner_reward_ratio", "switch", "reward",
        "Reward of a learned tuner's last slot; NaN if it reports none."),
    gauge("testbed_tuner_state_info", "state", lambda now: [1.0 for one in now.tuners if one.state],
        "1 for the state of a learning tuner: baseline, exploring, frozen or fallen back; others have no series."),
    counter("testbed_tuner_decisions", "switch", "decisions", "Slots after which the tuner decided."),
    counter("testbed_tuner_decision_seconds", "switch", "seconds", "CPU time that its decisions took."),
    counter("testbed_tuner_refusals", "switch", "refusals",
        "Decisions rejected for invalid thresholds."),

    gauge("testbed_distortion_ratio", "limit", lambda now: list(now.distortion.values()),
        "Measured distortion / what a clean run may have."),
)
# fmt: on
