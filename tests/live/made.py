"""A made run of two senders over 8 Gbit/s (1 byte per ns): figures follow by hand."""

from __future__ import annotations

import numpy as np

from testbed.agent.columns import RTT_BINS
from testbed.agent.histogram import OCTAVES, edges
from testbed.base.arrays import Ints
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.plan import Plan
from testbed.live.scene import Groups, Scene, SceneJob, ScenePort, SceneQueue
from testbed.live.snapshot import CONTROLLER_COUNTERS, FLOW_COUNTERS, QUEUE_LIMITS, Counted, Snapshot
from testbed.results.figures.jobs import JobNow
from testbed.results.record import RTT_BINS_PER_OCTAVE
from testbed.results.tuner_log import TunerNow

RATE = 8e9
BASE_RTT = 10e-6
CONTROLLERS = ("swift", "dcqcn")


def plan(senders: int = 2, flows_per_sender: int = 1) -> Plan:
    receiver = f"h{senders + 1}"
    flows = [Flow(f"h{i + 1}", receiver, np.inf, 0.0) for i in range(senders) for _ in range(flows_per_sender)]
    return Plan.of(flows)


def scene(flows: Plan | None = None) -> Scene:
    """Two controllers take turns."""
    flows = flows or plan()
    groups = Groups(flows, [CONTROLLERS[i % 2] for i in range(len(flows))])
    hosts = len(set(flows.src)) + 1
    return Scene(
        experiment="made",
        controller=" + ".join(CONTROLLERS),
        tuner="static",
        seed=7,
        duration=30e-3,
        warmup=10e-3,
        dilation=1000.0,
        base_rtt=BASE_RTT,
        bottleneck=hosts - 1,
        ports=tuple(ScenePort(f"s1-eth{i}", "s1", f"h{i}", RATE, 5e6) for i in range(1, hosts + 1)),
        flows_by=groups.by,
        flows=groups.flows,
        controllers=groups.controllers.names,
        queues=(SceneQueue(f"s1-eth{hosts}", "3", "rdma"), SceneQueue(f"s1-eth{hosts}", "5", "cnp")),
        jobs=(SceneJob("ring", 8),),
        run="made-swift",
    )


def rtts(time: float, count: int, per_octave: int = RTT_BINS_PER_OCTAVE) -> Ints:
    """All RTTs in the bin of ``time``."""
    counts = np.zeros(OCTAVES * per_octave, np.int64)
    counts[np.searchsorted(edges(per_octave), time, side="right") - 1] = count
    return counts


def snapshot(time: float, scene: Scene, *, acked: tuple[int, ...] = (0, 0), rtt: float = BASE_RTT) -> Snapshot:
    """``acked``: packets of 1000 bytes per flow; all of them went through the last port, and every tenth was marked."""
    packets = sum(acked)
    at_bottleneck = np.zeros(len(scene.ports))
    at_bottleneck[-1] = 1.0
    found = np.zeros((len(scene.ports), len(QUEUE_LIMITS) + 2), np.int64)
    found[-1, 2] = packets  # between 1024 and 2048 bytes
    flow_rtt = np.zeros((len(acked), RTT_BINS), np.int64)
    for row, count in zip(flow_rtt, acked, strict=True):
        row[:] = rtts(rtt, count, 2)
    column = np.array(acked)
    none = np.zeros_like(column)
    counters = dict.fromkeys(FLOW_COUNTERS, none)
    counters |= {"acked": column, "sent": column + 1, "acked_payload": column * 1000, "ce": column // 10}
    return Snapshot(
        time=time,
        ports={
            "tx_bytes": at_bottleneck * packets * 1000.0,
            "tx_packets": at_bottleneck * packets,
            "queue": at_bottleneck * 2000.0,
            "peak_queue": at_bottleneck * 9000.0,
            "marked_packets": at_bottleneck * (packets // 10),
            "dropped_packets": at_bottleneck * 3,
            "kmin": np.full(len(scene.ports), 5e3),
            "kmax": np.full(len(scene.ports), 200e3),
            "pmax": np.full(len(scene.ports), 0.01),
            "ingress": at_bottleneck * 0.0,
            "pause_frames": at_bottleneck * 0.0,
            "paused": at_bottleneck * 0.0,
        },
        queues={
            "tx_bytes": np.array([packets * 990.0, packets * 10.0]),
            "tx_packets": np.array([packets * 0.99, packets * 0.01]),
            "queue": np.array([1900.0, 100.0]),
            "peak_queue": np.array([9000.0, 100.0]),
            "marked_packets": np.array([packets // 10, 0]),
            "dropped_packets": np.array([2.0, 1.0]),
            "kmin": np.array([5e3, np.nan]),
            "kmax": np.array([200e3, np.nan]),
            "pmax": np.array([0.01, np.nan]),
            "paused": np.array([time / 4, 0.0]),
        },
        queue_found=Counted(found, found[:, 2] * 1500.0),
        flows={
            **counters,
            "rate": np.array([4e9, np.inf])[: len(acked)],
            "window": np.full(len(acked), np.inf),
            "active": none + 1,
            "inflight": column * 0.0 + 3000.0,
            "rtt": np.full(len(acked), rtt),
        },
        flow_rtt=Counted(flow_rtt, column * rtt),
        controllers={name: counters[name] for name in CONTROLLER_COUNTERS} | {"active": none + 1},
        controller_rtt=Counted(flow_rtt, column * rtt),
        rtt=rtts(rtt, packets),
        tuners=(TunerNow("s1", 0.75, 20, 2e-3, 1, "exploring"),),
        jobs=(JobNow(3, 2e-3, 1.25, 64e9),),
        decision_time=Counted(rtts(3e-6, 5, 2), np.array(15e-6)),
        decided=10,
        distortion={"pacing lag": 0.4, "feedback lag": 1.5},
        reasons=("feedback lag: too long",),
    )
