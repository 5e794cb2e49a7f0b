"""The rack of one run in virtual time: lines, tables, maps, programs; and the time."""

from __future__ import annotations

import ctypes
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.base.pages import LargePages
from testbed.clock import Clock
from testbed.dataplane import class_rows, wire
from testbed.dataplane.intake_rows import intake_row
from testbed.dataplane.pool_rows import pool_rows
from testbed.dataplane.port_reader import PortReader
from testbed.dataplane.programs import FLOW_TABLE, Answers
from testbed.engines.virtual.build import unit_of
from testbed.engines.virtual.clock import EPOCH, virtual_clock
from testbed.engines.virtual.lossless import headroom_needed, ingress_sizes, intake_headroom, quantum_ps
from testbed.engines.virtual.maps import VirtualMaps, VirtualRing
from testbed.engines.virtual.structs import LINE_QUEUES, OCCASION, SCHEDULER, TICK_SHIFT, TOP, CWorld, library
from testbed.engines.virtual.watchdog import VirtualWatchdog
from testbed.engines.virtual.wires import FIRST_INDEX, Wires, per_byte
from testbed.experiment.resolved import Resolved
from testbed.experiment.topology.classes import Classes
from testbed.experiment.topology.shape import Link
from testbed.experiment.topology.tables import Tables
from testbed.tuner import Need

LOST = 1.0  # as the loss of a port: its link is down
EVENTS_PER_LINE = 3
PER_DELAY, PACKETS = 4, 512  # cells of the calendar in the shortest delay; packets in a cell, if all lines are full
NEVER = int(np.iinfo(np.int64).max)
RENEWED_AFTER = 0xFFFF // 2  # quanta
SEEDS = 2**32  # of draws
LONG = 10**8  # of those: longer than any pause


class World:
    """Enters itself when it is made: in a process one at a time goes on."""

    def __init__(self, resolved: Resolved) -> None:
        self.resolved, self.layout = resolved, resolved.layout
        self.experiment = resolved.experiment
        self._keep: list[Any] = []  # what C points to must live as long as this
        self.c = CWorld(now=EPOCH)
        self.clock: Clock = virtual_clock(self.ticks)
        shape, plan = self.layout.shape, self.layout.plan
        self.buffer = ingress_sizes(self.layout)
        self.memory = LargePages()
        self.wires = Wires(shape, self.clock, self.memory)
        self.tables = Tables(shape, self.layout.routes)
        self._losses: dict[Link, float] = {}  # that were set while it ran
        monitor = FLOW_TABLE if Need.FLOWS in resolved.tuner.form.needs else 0
        self.code = library(unit_of(resolved))
        self.classes = self.experiment.rack.switch.tables
        self.pool = self.experiment.rack.switch.memory
        self.pausing = bool(self.pool and self.pool.lossless)  # by priorities
        self.bolt = resolved.src_threshold > 0
        self.maps = VirtualMaps(
            self.wires.interfaces, len(plan), monitor, self.code,
            bolt=self.bolt, classes=self.classes, pool=self.pool, memory=self.memory,
            receivers=self.experiment.transport.numbered,
        )  # fmt: skip
        self.ring = VirtualRing()
        self.port_list = self.wires.ports(self.layout, self.clock, self.bolt or self.buffer is not None)
        self.empty: Callable[[], None] = lambda: self.code.drain(self.address, NEVER)
        self._switch_on()
        self._describe()
        self.enter()
        self.ports = PortReader(self.maps, self.port_list, self.clock)
        self.queues = self.ports
        if self.classes:
            self.ports.thresholds[:] = np.nan  # they are the queues'
            self.queues = PortReader(self.maps, self.queue_list, self.clock)
            lossless = self.pool.lossless if self.pool else []
            class_rows.tell_pauses(self.ports, self.queues, self.classes, lossless, self.wires.interfaces)

    watchdog: VirtualWatchdog | None = None  # what ends pauses that do not end by themselves

    def grant_from(self, host: Ints, heads: NDArray[np.uint8]) -> None:
        """Each flow's credits come from this host, and have this head of `HEAD_BYTES`."""
        self.c.receiver, self.c.credit_heads = self._at(host), heads.ctypes.data
        self.keep(heads)

    def divert(self, ring: VirtualRing) -> None:
        """What the NICs record goes there from now on, and not to `ring`."""
        self.keep(ring)
        self.c.feedback = ctypes.addressof(ring.c)
        self.enter()

    def ticks(self) -> int:
        """The time."""
        return int(self.c.now)

    def tick_of(self, time: Floats) -> Ints:
        """The first tick that is not before then; as in host.c."""
        length = self.clock.seconds_per_ns
        ticks = np.floor(time / length).astype(np.int64)  # one too early, most often, but a quotient may be rounded up
        ticks += ticks * length < time
        return EPOCH + ticks + (ticks * length < time)

    def _switch_on(self) -> None:
        """Ports are switched on, and paths of pauses known."""
        self.queue_list = []
        if self.classes:
            self.queue_list = class_rows.queue_ports(self.port_list, self.classes, self.wires.interfaces)
            class_rows.set_own_red(self.maps, self.queue_list, self.classes)
        self.maps.configure([*self.port_list, *self.queue_list], self.experiment.seed)
        lines, of_priorities = self.wires.lines, self.maps.pauses.reshape(-1, self.wires.interfaces)
        of_priorities["quantum_ps"][:, lines["to"]] = quantum_ps(lines)
        if self.pool and self.classes:
            needed = headroom_needed(self.layout)
            rows = pool_rows(self.pool, self.classes, self.port_list, self.wires.interfaces, needed)
            self.maps.share_memory(rows)
        if receive := self.experiment.rack.nic.receive:
            slow = [at for host, at in self.wires.host_interfaces().items() if receive.of(host)]
            rate, beyond = self.clock.wall_rate(receive.rate), intake_headroom(self.layout, receive)
            self.maps.intakes[slow] = intake_row(receive, rate, beyond)

    def _describe(self) -> None:
        c, wires, lines = self.c, self.wires, self.wires.lines
        c.line_count, c.host_count, c.switch_count = len(lines), len(wires.host), len(wires.switch)
        c.lossless, c.routed = self.buffer is not None or self.pausing, len(wires.switch) > 1
        c.queued = self.buffer is not None or self.bolt
        c.lines = self._at(lines)
        c.events, c.place = (
            self._at(self.memory.zeros(TOP + EVENTS_PER_LINE * len(lines), OCCASION)),
            self._at(np.full(EVENTS_PER_LINE * len(lines), -1)),
        )
        c.calendar = self.calendar(len(lines))
        for name, column in zip(("up", "down", "edge"), wires.hosts(), strict=True):
            setattr(c, name, self._at(column))
        senders = self.layout.senders
        sender = np.full(len(wires.host), -1)
        sender[senders - 1] = np.arange(len(senders))
        c.sender, c.out = self._at(sender), self._at(wires.out())
        c.hash_seed = self._at(wires.hash_seeds(self.experiment.seed))
        self._set_next_hops()
        for name, address in self.maps.addresses().items():
            setattr(c, name, address)
        if self.maps.flow_table:
            c.flow_table = ctypes.addressof(self.maps.flow_table.c)
        if self.classes:
            c.queues = self._at(self.memory.zeros(len(lines), LINE_QUEUES))
            self._schedulers = self._scheduler(self.classes)
            c.scheduler = self._at(self._schedulers)
        if settings := self.experiment.rack.switch.watchdog:
            self.watchdog = VirtualWatchdog(settings, len(lines), self.clock)
            c.watchdog = self.watchdog.address
        c.feedback = ctypes.addressof(self.ring.c)
        c.next_sample = NEVER  # until a sampler is there
        c.resumed = self._at(np.zeros(len(lines), np.int64))
        c.renewed_after = RENEWED_AFTER
        c.routing = wire.routing(self.experiment.routing.name)
        c.entries = self.experiment.bonds is not None

    def calendar(self, lines: int) -> int:
        """Of so many lines; it lives as long as this."""
        delays, packet = self.wires.lines["delay"], self.layout.framing.wire_size
        short = int(delays[delays > 0].min(initial=NEVER)) // PER_DELAY
        busy = PACKETS * (int(self.wires.lines["per_byte"].min()) * packet >> TICK_SHIFT) // max(lines, 1)
        made: int = self.code.make_calendar(min(short, busy))
        weakref.finalize(self, self.code.forget_calendar, made)
        return made

    def _scheduler(self, classes: Classes) -> NDArray[np.void]:
        made = np.zeros(1, SCHEDULER)
        made["strict"] = class_rows.strict_queues(classes)
        made["quantum"] = class_rows.quanta(classes, self.layout.framing.wire_size)
        return made

    def keep(self, what: object) -> None:
        """C points into it."""
        self._keep.append(what)

    def _at(self, array: NDArray[Any]) -> int:
        """Its address, of an array that will live as long as this."""
        assert array.flags.c_contiguous
        assert array.dtype.itemsize >= 8
        self.keep(array)
        return int(array.ctypes.data)

    def _set_next_hops(self) -> None:
        at, hops = self.wires.next_hops(self.tables.hops)
        self.c.hops_at, self.c.hops = self._at(at), self._at(hops)

    def enter(self) -> None:
        """The programs work for this world from now on, and not for the one before."""
        interval = self.clock.wall_ns(self.resolved.cnp_interval)
        lossless = (bool(self.c.lossless), self.buffer.xon if self.buffer else 0)
        tag = (wire.ROCE_PORT.to_bytes(2, "big"), wire.P_KEY.to_bytes(2, "big"))
        own = (int.from_bytes(part, "little") for part in tag)
        routing, seed = wire.routing(self.experiment.routing.name), self.experiment.seed % SEEDS
        routing = wire.SPRAYED if routing == wire.VALIANT else routing  # the ways of these are ours
        gap = self.clock.wall_ns(self.layout.flowlet_gap)
        answers = Answers(self.experiment.rack.nic.ack_dscp, self.experiment.rack.nic.cnp_dscp)
        _, ahead = wire.recovery(self.experiment.transport)
        numbered, credits = len(self.maps.receivers), self.resolved.receiver is not None
        tables = self.experiment.rack.switch.tables
        trim_tos = tables.trim_tos if tables else 0
        slow = self.experiment.rack.nic.receive is not None
        said = (*answers.tos, numbered, ahead, credits, trim_tos)
        nic = wire.NIC_SETTINGS.pack(interval, 0, gap, *lossless, *own, 0, routing, seed, *said, slow, 0)
        sizes = (self.buffer.xoff, self.buffer.xon, self.buffer.limit) if self.buffer else (self.pausing, 0, 0)
        notices = (self.resolved.src_threshold, self.layout.framing.wire_size)
        port = wire.PORT_SETTINGS.pack(*sizes, self.maps.flow_table is not None, *notices, routing, seed)
        self.address = ctypes.addressof(self.c)
        self.code.enter(self.address, nic, len(nic), port, len(port))

    def go_on(self) -> None:
        """Enter again, if another world of this process was entered meanwhile."""
        if ctypes.c_void_p.in_dll(self.code, "world").value != self.address:
            self.enter()

    @property
    def _most_ports(self) -> int:
        return max(Counter(port.switch for port in self.layout.shape.ports).values())

    @property
    def longest_queue(self) -> float:
        """Bytes that may wait at a port: its buffer, or what all ports have with priority flow control."""
        if self.buffer:
            return self._most_ports * self.buffer.limit
        buffer = self.layout.shape.largest_buffer
        return self.pool.longest(buffer, self._most_ports, headroom_needed(self.layout)) if self.pool else buffer

    def link_down(self, name: str) -> None:
        """See `testbed.engines.kernel.rack.net.Rack.link_down`."""
        self.tables.link_down(name)
        self._set_loss(name, LOST)

    def link_up(self, name: str) -> None:
        """Bring a link up again; until `reroute` no switch uses it."""
        self.tables.link_up(name)
        link = self.layout.shape.find(name)
        self._set_loss(name, self._losses.get(link, link.loss))

    def set_loss(self, name: str, loss: float) -> None:
        """See `testbed.engines.changes.Rack`."""
        link = self.layout.shape.find(name)
        self._losses[link] = loss
        if link not in self.tables.down:
            self._set_loss(name, loss)

    def set_rate(self, name: str, rate: float) -> None:
        """See `testbed.engines.changes.Rack`."""
        link, wall = self.layout.shape.find(name), self.clock.wall_rate(rate)
        for end in (link.low, link.high):
            position = self.layout.shape.position[end.interface]
            self.code.set_rate(self.address, self.wires.index[end] - FIRST_INDEX, per_byte(wall))
            self.port_list[position] = self.port_list[position]._replace(rate=wall)
            self.maps.set_rate(self.port_list[position])

    def set_delay(self, name: str, delay: float) -> None:
        """See `testbed.engines.changes.Rack`."""
        link = self.layout.shape.find(name)
        for end in (link.low, link.high):
            self.code.set_delay(self.address, self.wires.index[end] - FIRST_INDEX, self.clock.wall_ns(delay))

    def _set_loss(self, name: str, loss: float) -> None:
        link = self.layout.shape.find(name)
        for end in (link.low, link.high):
            if end.port:
                self.maps.set_loss(self.port_list[self.layout.shape.position[end.interface]], loss)
            else:
                said = link in self._losses or loss == LOST  # what the rack says of its links is of ports
                self.maps.set_host_loss(self.wires.index[end], loss if said else 0.0)

    def set_weights(self, classes: Classes) -> None:
        """See `testbed.engines.changes.Rack`."""
        self._schedulers["quantum"] = class_rows.quanta(classes, self.layout.framing.wire_size)

    def shares(self, of_groups: bool) -> NDArray[Any]:
        """See `testbed.engines.changes.Rack`."""
        rows = self.maps.pool_rows
        assert rows is not None, "without memory nothing has an alpha"
        return rows.groups["share"] if of_groups else rows.shares

    def row(self, port: int, number: int) -> int:
        """Of a queue or a group of a port."""
        return class_rows.row_of(self.port_list[port].ifindex, number, self.wires.interfaces)

    def reroute(self, names: Sequence[str]) -> None:
        """The switches detect the state of these links: those that have other shortest paths take them."""
        self.tables.reroute(names)
        self._set_next_hops()

    def drain(self, *, stuck: bool = False) -> None:
        """Go on until no packet is on its way. No agent runs any more.

        Pauses that are ``stuck``, for they wait for each other, are not renewed.
        """
        if stuck:
            self.c.renewed_after = LONG
        self.empty()
        self.catch_up()

    def catch_up(self) -> None:
        """Before anybody reads or changes what ports have: nobody looked at their lines until now."""
        self.code.catch_up_all(self.address, self.ticks() + 1)

    def abandon(self) -> None:
        """Give up: its packets and its memory are there for the next world. Nobody may look at it any more."""
        self.code.abandon(self.address)
        self.memory.give_back()
