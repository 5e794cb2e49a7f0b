"""One run in virtual time: the agent, samples and tuners take turns with the world, each at its own moment."""

from __future__ import annotations

import gc
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import numpy as np
import numpy.ma  # these two numpy would load later, in each fork: a third of a short run
import numpy.random

from testbed.agent.columns import Flows
from testbed.agent.flow_agent import FlowAgent
from testbed.agent.identity import Identity
from testbed.agent.meter import Meter
from testbed.base import linux
from testbed.base.arrays import Ints
from testbed.capture.files import Capture
from testbed.capture.output import About
from testbed.clock import Clock
from testbed.controller import Signal
from testbed.engines.changes import Changes, accept
from testbed.engines.virtual import sender
from testbed.engines.virtual.cut import Cut
from testbed.engines.virtual.network import VirtualNetwork
from testbed.engines.virtual.parts import Parts
from testbed.engines.virtual.sampler import Sampler
from testbed.engines.virtual.taps import Taps
from testbed.engines.virtual.wall import Wall
from testbed.engines.virtual.whole import useful_parts, why_whole
from testbed.engines.virtual.world import World
from testbed.errors import PluginFailed
from testbed.experiment.events import Event, EventSchedule
from testbed.experiment.resolved import Resolved
from testbed.fidelity.counters import AppCounts, Counts, PauseCounts
from testbed.fidelity.deadlocked import deadlocked
from testbed.fidelity.gather import Programs, unread
from testbed.fidelity.invariants import broken
from testbed.fidelity.processors import Processors
from testbed.live.collect import Collector
from testbed.live.recorder import Recorder, largest
from testbed.live.snapshots import Follower, Live, scene
from testbed.results import decisions
from testbed.results.decisions import Served
from testbed.results.ordered import OrderedTrace
from testbed.results.record import RTT_BINS_PER_OCTAVE, EngineName, Histogram, Lag, Lateness, RunRecord
from testbed.results.trace import DecisionTrace
from testbed.tuning.loop import in_rack

if TYPE_CHECKING:
    from testbed.engines.virtual.live_apps import LiveApps

log = logging.getLogger(__package__)
SHOWING = 1e-3  # share of the time that snapshots may take live, for what is due meanwhile is late
FIFO_PRIORITY = 1
ROOM = 2000  # rows of decisions before they become columns: what they take stays in caches


def _zeros(*shape: int) -> Ints:
    """Nobody shares them, so that the kernel may give large pages: `DecisionTrace` is quicker in them."""
    return np.zeros(shape, np.int64)


class Undisturbed:
    """No core can be too busy for virtual time."""

    idle, stolen = (), 0.0


class VirtualRun:
    """See `testbed.live.observed.Observed`."""

    in_order = True  # decisions of a rack that may be cut: the same file for any number of threads

    def __init__(
        self,
        resolved: Resolved,
        captures: Sequence[Capture],
        connection: Follower,
        turn: Ints | None = None,
        dilation: float | None = None,
        *,
        apps: LiveApps | None = None,
        threads: int = 1,
    ) -> None:
        """``turn`` tells who watches this run whether a controller or chooser (0) or a tuner (1) may be deciding.

        ``dilation``: wall seconds per nominal second; None for as fast as it goes. The figures are the same for any
        number of ``threads``.
        """
        self.resolved, self.layout, self.experiment = resolved, resolved.layout, resolved.experiment
        self.turn = np.zeros(1, np.int64) if turn is None else turn
        self.connection, self.dilation, self.apps, self.threads = connection, dilation, apps, threads
        self.world = World(resolved)
        if apps:
            apps.links.join(self.world)
        self.taps = Taps(self.world, captures, About(self.experiment.name, resolved.title, numbered_by_host=True))
        self.flows = Flows(len(self.layout.plan))
        self.meters: Sequence[Meter] = [Meter(RTT_BINS_PER_OCTAVE, self.trace())]
        self.tuning = in_rack(resolved, self.world.queues, self.layout.queue_names)
        lookahead = apps.links.lookahead if apps else None
        self.wall = Wall(self.world, dilation, self.meters[0].pacing_lag, lookahead) if dilation else None
        engine: EngineName = "live" if dilation else "virtual"
        self.network = VirtualNetwork(self.world, self.tuning, engine, *([apps.links.drops] if apps else []))
        self.agent: sender.Sender
        self.tasks = sender.tasks_of(self.world)
        self.parts: Parts | None = None
        built = sender.build(self.world, self.flows, self.meters[0], self.tasks)
        self.agent, self.controller = built.agent, built.controller
        why = why_whole(self.world, self.agent)
        if self.in_order and isinstance(self.agent, FlowAgent) and not why and self.experiment.record.decisions:
            self.meters[0].trace = self.ordered_trace()
            self.agent.record(self.meters[0].trace)
        if dilation:
            why = "it keeps pace with the wall clock"
        if self.threads > 1 and why:
            log.info("the run has one thread: %s", why)
            self.threads = 1
        self._part_count = 1 if why else useful_parts(resolved, self.threads)
        self.changes = Changes(resolved, self.flows, self.world, (self.world.ports, self.world.queues), built)
        self.programs = Programs(
            self.layout, self.world.maps.flows_tx, self.world.maps.flows_rx, self.world.maps.arrivals,
            self.world.maps, self.world.ports.index, self.world.ports.peer, lambda: self.world.maps.receivers,
        )  # fmt: skip
        chosen = largest(self.layout.plan.size, self.experiment.record.flows)
        record, duration = self.experiment.record, self.experiment.time.end
        size, expected = self.layout.framing.wire_size, int(duration / record.interval) + 2
        self.recorder = Recorder(self.flows, chosen, self.world.ports, size, expected=expected)
        self.sampler = Sampler(self.world, self.flows, self.recorder, record.interval, duration)

    @property
    def clock(self) -> Clock:
        """Virtual time."""
        return self.world.clock

    def follow(self) -> RunRecord:
        """To its end, until the user asks to stop, or until a plugin fails."""
        began = time.monotonic()
        collector = Collector(self, self.recorder, Undisturbed())
        schedule = EventSchedule(self.experiment.steps(), self.changes)
        live = Live(self.connection, self, collector, partial(accept, schedule, self.changes))
        self.connection.send(("begin", replace(scene(self), dilation=self.dilation, engine=self.network.engine)))
        world, experiment = self.world, self.experiment
        if self.apps:
            self.apps.wait_ready(self.connection)
        if self.wall:
            live.most = SHOWING
            collector.processors = processors = Processors()  # it counts from now on
            epoch_ns = self.wall.begin()
            if self.apps:
                self.apps.begin(epoch_ns)
        try:
            interrupted = self._go_on(schedule, collector, live)
        except PluginFailed as error:
            interrupted = str(error)
        if self.wall:
            self.wall.end()
            processors.count()
        self.sampler.end()
        self.agent.close()
        record = collector.record(interrupted)
        if experiment.rack.switch.deadlock == "allow":
            record.deadlock = deadlocked(record, self.layout)
        pauses, watched = self._pauses(), self._watched()
        world.drain(stuck=bool(record.deadlock))
        collector.drained(record)
        record.captures = self.taps.end()
        record.clock_jump = 0.0  # of clocks that nothing here reads
        _forget_the_machine(record, live=self.wall is not None)
        if self.apps:
            self.apps.end(record)
        record.wall_seconds = time.monotonic() - began
        counts = self._counts(self.clock.now())
        defied = world.watchdog is not None and world.watchdog.defied
        counts = counts.excused(pauses, stuck=bool(record.deadlock), defied=defied)
        record.broken = broken(counts)
        record.events = sorted([*schedule.done, *watched], key=lambda event: event.time)
        record.edits = schedule.added
        record.loaded_plugins = [one.as_dict() for one in counts.loaded_plugins]
        record.tuners = self.tuning.ended()
        if self.tasks:
            self.tasks.tell(record, self.layout.plan)
        self.keep_decisions(record)
        return record

    def trace(self) -> DecisionTrace:
        """Where decisions are recorded; encoded whenever it is full, so that a run touches little memory.

        Live they are encoded at the end: it would take the time of an RTT.
        """
        hops, most, flows = self.resolved.traced_hops, self.experiment.record.decisions, len(self.flows)
        self._encoder = decisions.Encoder(hops, Signal.SRC in self.resolved.signals, flows, most)
        return DecisionTrace(most, hops, _zeros, room=max(ROOM, flows), take=self._take)

    def ordered_trace(self) -> OrderedTrace:
        """The same of a rack that may be cut: its file is the same for any number of threads."""
        hops, most, host = self.resolved.traced_hops, self.experiment.record.decisions, self.layout.plan.src_number
        return OrderedTrace(most, hops, host, room=ROOM, take=self._take)

    @property
    def _take(self) -> Callable[[DecisionTrace], int] | None:
        return None if self.dilation else self._encoder.add

    def keep_decisions(self, record: RunRecord) -> None:
        """What was decided, as a file."""
        if self.experiment.record.decisions and self.controller:
            trace = self.meters[0].trace
            if isinstance(trace, OrderedTrace):
                trace.end()
            served = [Served(0, self.layout.controller_paths(), trace)]
            self._encoder.add(trace)
            record.decisions_file, record.decisions_kept = self._encoder.file(served), decisions.kept(served)

    def _go_on(self, schedule: EventSchedule, collector: Collector, live: Live) -> str:
        """Why it ended early; empty if it did not."""
        agent, tuning, clock, sampler = self.agent, self.tuning, self.clock, self.sampler
        window, duration = sampler.next_from(self.experiment.time.warmup), self.experiment.time.end
        look = sampler.next_from(collector.next_look)
        while (now := clock.now()) < duration:
            sampler.take()
            self.world.catch_up()
            self.taps.drain()
            if now >= window:
                collector.window_begins(now)
                window = np.inf
                if self.apps:
                    self.apps.links.window_begins()
            if now >= look:
                sampler.date()
                if collector.rests(now):
                    break
                look = sampler.next_from(collector.next_look)
            if live.seconds_left() <= 0:
                sampler.date()
                live.show()
                if interrupted := live.interrupted() or self._apps_failure():
                    return interrupted
                if self.apps and not self.apps.going_on and np.isfinite(self.flows.finished).all():
                    break
            schedule.step(now)
            self.turn[0] = 1
            tuning.step(now, self.world.c.now)
            self.turn[0] = 0
            until = min(sampler.next_look, window, look, tuning.next_slot, schedule.next, duration)
            while now < until:  # starts of flows are many, and the agent's alone
                sampler.take()
                self._divide()
                agent.step(now)
                agent.wait(now, min(agent.next_step, until))
                now = clock.now()
                if live.seconds_left() <= 0:  # looked at last: the run goes on, however slow it is to show
                    break
        sampler.date()
        self.world.catch_up()
        live.look()  # of a run of seconds a good part would stay unseen
        return ""

    def _apps_failure(self) -> str:
        return self.apps.failure() if self.apps else ""

    def _divide(self) -> None:
        """Cut the rack into parts, before anything happens in it."""
        agent, trace = self.agent, self.meters[0].trace
        if self._part_count > 1 and not self.parts and isinstance(agent, FlowAgent):
            cut = Cut.of(self.world.wires, self.layout.plan, self._part_count)
            ordered = trace if isinstance(trace, OrderedTrace) else None
            self.parts = Parts(self.world, agent, cut, self.threads, ordered)

    def _watched(self) -> list[Event]:
        """What the watchdog of pauses did."""
        names = dict(zip(self.world.queues.index.tolist(), self.layout.queue_names, strict=True))
        return self.world.watchdog.events(names) if self.world.watchdog else []

    def _pauses(self) -> PauseCounts | None:
        world, never = self.world, 2**62
        if world.buffer:
            return self.programs.pauses(never)
        if not world.pool or not world.maps.pool_rows:
            return None
        return self.programs.priorities(world.pool, world.maps.pool_rows.groups, world.wires.interfaces, never)

    def _counts(self, duration: float) -> Counts:
        waiting = [ring.waiting() for ring in (self.parts.rings if self.parts else [self.world.ring])]
        return Counts(
            flows=self.programs.flows(self.flows, unread(waiting, len(self.flows))),
            ports=self.programs.ports(self._entered() if self.experiment.bonds else None),
            duration=duration,
            loaded_plugins=Identity.all_of(self.controller) if self.controller else [],
            wanted=[Identity.wanted(one.plugin) for one in self.resolved.deciders] if self.controller else [],
            int_faults=int(self.meters[0].counters[4]),
            queue_difference=self.sampler.queue_difference,
            queue_tolerance=float(self.layout.framing.wire_size),
            pauses=self._pauses(),
            srcs=self.programs.srcs(self.flows),
            credits=self.programs.credits(),
            recovery=self.programs.recovery(self.flows),
            apps=AppCounts(self._entered()) if self.apps else None,
        )

    def _entered(self) -> Ints:
        """Packets that have come into a switch, at each port."""
        return np.asarray(self.world.maps.arrivals["packets"][self.world.ports.index], np.int64)


def _forget_the_machine(record: RunRecord, *, live: bool) -> None:
    """Nothing is late in virtual time: what only a machine can do is unknown, and not 0. Live, events may be."""
    for name in (
        "sends_refused", "swapped_acks", "ring_high_water_bytes", "agent_steps", "agents",
    ):  # fmt: skip
        del record.counters[name]
    empty = np.zeros_like(record.late.pacing_lag.histogram.counts)
    unknown = Lag(Histogram(record.late.pacing_lag.histogram.edges, empty), float("nan"))
    record.late = Lateness(record.late.pacing_lag if live else unknown, unknown)
    record.late_at_start = None  # live it has changed no figure


def _prepare_to_be_on_time(*, apps: bool) -> None:
    """What takes as long as an RTT does not happen from now on: page faults, collections, waiting for a core."""
    gc.disable()
    linux.hold_memory()
    linux.sharpen_timers()
    core, others = linux.own_core()
    if apps:
        os.sched_setaffinity(0, core)
        linux.keep_awake()
    if core != others:  # it looks at the clock more than it sleeps
        linux.real_time(FIFO_PRIORITY)


def follow(
    resolved: Resolved,
    captures: Sequence[Capture],
    turn: Ints,
    dilation: float | None,
    connection: Connection,
    *,
    name: str,
    threads: int,
) -> None:
    """What the run's process does. One with apps can be entered from outside, by its ``name``."""
    apps = None
    if dilation and resolved.experiment.apps:
        from testbed.engines.virtual.live_apps import LiveApps  # pyroute2 takes longer than all else

        apps = LiveApps(resolved, dilation, name)
    run = VirtualRun(resolved, captures, connection, turn, dilation, apps=apps, threads=threads)
    if dilation:
        _prepare_to_be_on_time(apps=apps is not None)
    connection.send(("record", run.follow()))
