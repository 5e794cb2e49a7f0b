"""Reports a run to the outside: a `Snapshot` a few times a second, from memory that is written anyway."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.fidelity.verdict import limits_of
from testbed.live.collect import Collector
from testbed.live.controllers import ByController
from testbed.live.edit import Accepting, Edit
from testbed.live.observed import Observed
from testbed.live.scene import Groups, Scene, SceneJob, ScenePort, SceneQueue
from testbed.live.snapshot import CONTROLLER_COUNTERS, FLOW_COUNTERS, Counted, Snapshot
from testbed.live.spans import Timeline, rows_of
from testbed.results.figures.jobs import jobs_now
from testbed.results.figures.unknown import quantile
from testbed.results.record import StepTable
from testbed.results.report.ranks import matrix

WALL_NS_BETWEEN = 200_000_000
MOST = 0.05  # share of the time that snapshots may take: of 100,000 flows one takes a tenth of a second


class Follower(Protocol):
    """Who follows a run: a `Connection`, mostly."""

    def send(self, obj: Any, /) -> None: ...

    def poll(self) -> bool: ...

    def recv(self) -> Any: ...


class Live:
    """Sends snapshots through the connection, and receives there the user's edits and request to stop."""

    most = MOST

    def __init__(self, connection: Follower, run: Observed, collector: Collector, accept: Accepting) -> None:
        self.connection, self.accept = connection, accept
        self.run = run
        self.collector = collector
        plan = run.layout.experiment.between_hosts
        self.groups = Groups(plan, run.resolved.deciding)
        self.timeline = Timeline(plan)
        self._next_ns = time.monotonic_ns() + WALL_NS_BETWEEN
        self._tx_bytes = np.zeros(len(run.layout.port_names))

    def show(self) -> None:
        """Send a snapshot if it is time for one."""
        now_ns = time.monotonic_ns()
        if now_ns >= self._next_ns:
            self.look()
            took = time.monotonic_ns() - now_ns
            self._next_ns = now_ns + max(WALL_NS_BETWEEN, round(took / self.most))

    def look(self) -> None:
        """Send one now."""
        self.connection.send(("snapshot", self._snapshot()))

    def seconds_left(self) -> float:
        """Of wall time until the next snapshot."""
        return (self._next_ns - time.monotonic_ns()) / 1e9

    def interrupted(self) -> str:
        """Why the user ended the run; empty if it should go on. Raises EOFError if the other side is gone."""
        while self.connection.poll():
            asked = self.connection.recv()
            if not isinstance(asked, Edit):
                return str(asked)
            self.connection.send(("edited", self.accept(asked, self.run.clock.now())))
        return ""

    def _snapshot(self) -> Snapshot:
        """Its time is when the ports are read: what they send until then must not count for less time."""
        now_ns, now = self.run.clock.read_ns(), self.run.clock.now()
        found = snapshot(self.run, self.collector, self.groups, self._ports(now_ns), now)
        found = replace(found, queues=self.run.network.sample_queues(now_ns))
        if self.run.tasks is None:
            return found
        graph = self.run.layout.plan.tasks
        steps = StepTable.of(graph.steps, self.run.tasks.begun(), now)
        return replace(found, jobs=jobs_now(steps, graph.jobs), spans=self.timeline.news(steps, self.run.flows))

    def _ports(self, now_ns: int) -> dict[str, Floats]:
        """An upward correction of the queue (see the port program) must not lower the bytes that were sent."""
        sample = self.run.network.sample(now_ns)
        sample["tx_bytes"] = self._tx_bytes = np.maximum(self._tx_bytes, sample["tx_bytes"])
        return sample


def snapshot(run: Observed, collector: Collector, groups: Groups, ports: dict[str, Floats], now: float) -> Snapshot:
    """The run at this moment, without its jobs."""
    record, meters = collector.so_far(), run.meters
    limits = limits_of(record)
    used = {limit.what: limit.used(record) for limit in limits if limit.live}
    return Snapshot(
        time=now,
        ports=ports,
        queue_found=run.network.queues_found(),
        flows=_flows(run, groups, now),
        flow_rtt=Counted(groups.sum(run.flows.rtt_counts), groups.sum(run.flows.rtt_sum)),
        controllers=_controllers(run, groups.controllers, now),
        controller_rtt=Counted(groups.controllers.sum(run.flows.rtt_counts), groups.controllers.sum(run.flows.rtt_sum)),
        rtt=np.sum([meter.rtt.counts for meter in meters], axis=0),
        decision_time=Counted(
            np.sum([meter.decision_times.counts for meter in meters], axis=0),
            np.array(record.decisions.seconds),
        ),
        decided=record.decisions.rows,
        distortion=used,
        tuners=run.network.tuners(),
        reasons=tuple(str(limit.reason(record)) for limit in limits if used.get(limit.what, 0.0) > 1),
    )


def _flows(run: Observed, groups: Groups, now: float) -> dict[str, Floats | Ints]:
    flows = run.flows
    inflight = groups.sum(flows.inflight) * float(run.layout.framing.wire_size)
    summed = {name: groups.sum(getattr(flows, name)) for name in (*FLOW_COUNTERS, "rate", "window")}
    active = groups.sum(_active(run, now))
    return summed | {"active": active, "inflight": inflight, "rtt": groups.mean(flows.rtt)}


def _controllers(run: Observed, parts: ByController, now: float) -> dict[str, Ints]:
    return {name: parts.sum(getattr(run.flows, name)) for name in CONTROLLER_COUNTERS} | {
        "active": parts.sum(_active(run, now))
    }


def _active(run: Observed, now: float) -> Ints:
    return ((run.flows.start <= now) & np.isnan(run.flows.finished)).astype(np.int64)


def _queues(run: Observed) -> tuple[SceneQueue, ...]:
    classes = run.resolved.experiment.rack.switch.tables
    if not classes:
        return ()
    return tuple(
        SceneQueue(port, str(number), classes.names_in(number))
        for port in run.layout.port_names
        for number in classes.queues
    )


def scene(run: Observed) -> Scene:
    """The run that is about to begin."""
    experiment, plan = run.resolved.experiment, run.layout.experiment.between_hosts
    groups, jobs = Groups(plan, run.resolved.deciding), plan.tasks.jobs
    ports = (
        ScenePort(one.name, one.switch, one.neighbour, one.link.rate, float(round(one.link.buffer)))
        for one in run.layout.shape.ports
    )
    return Scene(
        experiment=experiment.name,
        controller=run.resolved.title,
        tuner=run.resolved.tuner.name,
        seed=experiment.seed,
        duration=experiment.time.end,
        warmup=experiment.time.warmup,
        dilation=run.clock.dilation,
        base_rtt=quantile(run.layout.paths.base_rtt, 0.5) if len(run.layout.plan) else run.layout.longest_rtt,
        bottleneck=run.layout.bottleneck,
        ports=tuple(ports),
        queues=_queues(run),
        flows_by=groups.by,
        flows=groups.flows,
        controllers=groups.controllers.names,
        jobs=tuple(SceneJob(one.name, one.iterations) for one in jobs),
        ranks=tuple(host if len(jobs) == 1 else f"{job} {host}" for job, host in rows_of(jobs)),
        sends=matrix(plan.src, plan.dst, plan.size) if jobs else "",
    )
