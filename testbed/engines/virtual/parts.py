"""A rack that is cut into parts, for which threads work while the rack goes on (parts.h)."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from testbed.agent.datapath import Datapath
from testbed.agent.flow_agent import Deciding, FlowAgent
from testbed.agent.memory import Memory
from testbed.agent.paths import KNOWN_PORT, KNOWN_PORTS
from testbed.agent.structs import HOPS, ROWS, CDatapath, CHeap, CHistogram, CRing, CTrace
from testbed.base.arrays import Ints
from testbed.compiled.records import Decider
from testbed.dataplane.wire import MAX_HOPS, PRIORITIES
from testbed.engines.virtual.cut import Cut
from testbed.engines.virtual.maps import VirtualRing
from testbed.engines.virtual.structs import OCCASION, TOP, CWorld
from testbed.engines.virtual.world import EVENTS_PER_LINE, World
from testbed.results.ordered import OrderedTrace

KNOWN_BYTES = KNOWN_PORT.itemsize * KNOWN_PORTS
LOAD = np.dtype([("seconds", np.float64), *((name, np.int64) for name in ("thread", "events", "crossed"))])  # `load`
RING_SIZE = 1 << 21  # bytes: several records of one instant for each host
COUNTED = ("refused", "high_water", "swapped", "int_faults", "above_line", "filled_length", "unreported_length")


@dataclass(frozen=True)
class Room:
    """What a part has: memory for all of the rack in each part would be more than the rack's."""

    lines: int
    flows: int
    hosts: int
    granting: int  # moments of those that grant credits


class Parts:
    """What was one world and one agent until now; both go on as those of the first part."""

    def __init__(self, world: World, agent: FlowAgent, cut: Cut, threads: int, trace: OrderedTrace | None) -> None:
        """``threads``: at most as many as parts. ``trace``: where decisions are recorded, if they are."""
        datapath = agent.datapath
        self._world, self._datapath, self._code = world, datapath, world.code
        self._memory, self._keep = Memory(), list[object]()
        c = datapath.c
        self._of = cut.host[world.layout.plan.src_number - 1]
        assert agent.controller.addresses is not None
        self._asked = agent.controller.addresses
        others = [address for address in (c.paths.chooser, c.credits.decider) if address]
        self._deciders = deciders = np.unique(np.append(self._asked, np.array(others, self._asked.dtype)))
        self.pointer = self._code.make_parts(cut.count, threads, self._memory.keep(deciders), len(deciders))
        weakref.finalize(self, self._code.forget_parts, self.pointer)
        self.agents = [datapath.pointer]
        self.rings = [world.ring]
        self._code.set_part(self.pointer, 0, world.address, datapath.pointer, None)
        columns = (cut.line, self._of, cut.host[world.layout.senders - 1])
        received = cut.host[world.layout.plan.dst_number - 1]
        for number in range(1, cut.count):
            lines = int(((cut.line == number) | (cut.line[np.arange(len(cut.line)) ^ 1] == number)).sum())
            flows, hosts = (int((column == number).sum()) for column in columns[1:])
            granting = int((cut.host == number).sum() + (received == number).sum()) if c.credits.decider else 0
            self._add(number, Room(lines, flows, hosts, granting))
        self._code.divide(self.pointer, *map(self._memory.keep, columns))
        self.lost: Exception | None = None
        self._records = list[CTrace]()
        if trace:
            self._record(trace)
        datapath.split, world.empty = self.split, self.drain
        agent.decisions = DividedDecisions(agent.decisions, self, datapath)

    def _add(self, number: int, room: Room) -> None:
        own = self._memory.keep(np.zeros((len(self._deciders), ctypes.sizeof(Decider)), np.uint8))
        ring = VirtualRing(RING_SIZE)
        world = self._part_of_world(ring, room)
        agent = self._part_of_agent(ring, own, room)
        self._keep += [world, agent, ring]
        self.rings.append(ring)
        self.agents.append(ctypes.addressof(agent))
        self._code.set_part(self.pointer, number, ctypes.addressof(world), ctypes.addressof(agent), own)

    def _part_of_world(self, ring: VirtualRing, room: Room) -> CWorld:
        world, keep = self._world, self._memory.keep
        c = CWorld.from_buffer_copy(world.c)
        c.events, c.event_count = keep(world.memory.zeros(TOP + EVENTS_PER_LINE * room.lines, OCCASION)), 0
        c.calendar = world.calendar(room.lines)
        c.resumed, c.feedback = keep(np.zeros(room.lines, np.int64)), ctypes.addressof(ring.c)
        c.resumed_count = c.released = c.unroutable = c.events_done = 0
        return c

    def _part_of_agent(self, ring: VirtualRing, deciders: int, room: Room) -> CDatapath:
        """The same flows, of which it serves some; what changes with whatever it does is its own."""

        def own_of(address: Any) -> Any:
            return deciders + ctypes.sizeof(Decider) * np.searchsorted(self._deciders, address)

        memory, c = self._memory, CDatapath.from_buffer_copy(self._datapath.c)
        n, hosts = room.flows, room.hosts
        gates = hosts * PRIORITIES if c.gate else 0
        for name, ids in (("agenda", n + hosts + gates + room.granting), ("alarms", n), ("starts", n)):
            whole = getattr(c, name)
            setattr(c, name, CHeap(memory.keep(np.zeros((ids, 2))), whole.place, 0))
        own = CRing(*ring.addresses(), ring.size - 1, 0.0)
        self._keep.append(own)
        c.rings, c.ring_count = ctypes.addressof(own), 1
        for name in (*ROWS, "row_rtt", "unreported"):
            memory.point(c, name, np.zeros(n, np.int64))
        for name in HOPS:
            memory.point(c, name, np.zeros((n, MAX_HOPS), np.int64))
        memory.point(c, "filled", np.zeros(hosts, np.int64))
        for name in ("rtts", "pacing", "feedback", "timers"):
            setattr(c, name, self._empty(getattr(c, name)))
        for name in COUNTED:
            setattr(c, name, 0)
        c.transport.in_error = 0
        if c.messages.times:
            c.messages.times = self._empty_at(c.messages.times)
        decisions = c.decisions
        decisions.of = memory.keep(own_of(self._asked))
        decisions.times = self._empty_at(decisions.times)
        decisions.steps = decisions.first_cycles = decisions.first_ns = 0
        memory.point(decisions, "due", np.zeros(n, np.int64))
        memory.point(decisions, "counts", np.zeros(2, np.int64))
        memory.point(decisions, "seconds", np.zeros(1))
        for asked, name in ((c.paths, "chooser"), (c.credits, "decider")):
            if address := getattr(asked, name):
                setattr(asked, name, int(own_of(address)))
        if c.paths.known:
            known = ctypes.string_at(c.paths.known, KNOWN_BYTES)
            c.paths.known = memory.keep(np.frombuffer(known, np.int64).copy())
        return c

    def _record(self, trace: OrderedTrace) -> None:
        """Each part by itself; what there is becomes one's at the end of a window."""
        self._trace, words = trace, trace.addresses()[0]
        for piece, agent in zip(trace.divide(len(self.agents)), self.agents, strict=True):
            addresses = (words, piece.headers.ctypes.data, piece.state.ctypes.data, piece.at, trace.left)
            record = CTrace(*addresses)
            CDatapath.from_address(agent).decisions.trace = ctypes.addressof(record)
            self._records.append(record)
        self._full = CTrace.Full(self._take_records)
        self._code.take_records(self.pointer, trace.room, self._full)

    def _take_records(self) -> None:
        """C cannot pass an exception on: nothing more is recorded then, and `DividedDecisions` raises it."""
        try:
            self._trace.take_pieces()
            left = self._trace.left
        except Exception as error:  # noqa: BLE001
            self.lost, left = error, -1
        for piece, record in zip(self._trace.pieces, self._records, strict=True):
            record.at, record.left = piece.at, left

    def _empty(self, like: CHistogram) -> CHistogram:
        keep, bins = self._memory.keep, int(like.bins)
        columns = (np.zeros(bins, np.int64), np.zeros(1), np.full(1, np.inf))
        return CHistogram(*map(keep, columns), bins, like.per_octave)

    def _empty_at(self, like: int) -> int:
        made = self._empty(CHistogram.from_address(like))
        self._keep.append(made)
        return ctypes.addressof(made)

    def split(self, flows: Ints) -> Iterator[tuple[int, Ints]]:
        """See `Datapath.split`."""
        for number, agent in enumerate(self.agents):
            own = flows[self._of[flows] == number]
            if len(own):
                yield agent, own

    @property
    def threads(self) -> list[int]:
        """By part, which works for it now."""
        return [self._code.thread_of(self.pointer, number) for number in range(len(self.agents))]

    def watch(self, windows: int) -> np.ndarray:
        """What each part does in each window from now on, for so many: `LOAD`, (windows, parts); 0 s after the last."""
        loads = np.zeros((windows, len(self.agents)), LOAD)
        self._code.watch_loads(self.pointer, self._memory.keep(loads), windows)
        return loads

    def drain(self) -> None:
        """Go on until no packet is on its way."""
        self._code.run_parts(self.pointer, 0.0, 1)


class DividedDecisions:
    """Those of an agent that has become several (`testbed.agent.decisions.Decisions`)."""

    def __init__(self, whole: Deciding, parts: Parts, datapath: Datapath) -> None:
        self._whole, self._parts, self._datapath, self._code = whole, parts, datapath, datapath.code

    def serve(self, until: float) -> bool:
        """All parts, until then."""
        endless = bool(self._code.run_parts(self._parts.pointer, until, 0))
        self._code.find_failure(self._parts.pointer)
        self._datapath.check()
        return endless

    def decide_due(self, now: float) -> None:
        """Of all parts."""
        self._code.decide_parts(self._parts.pointer, now)

    def time_out(self, flows: Ints, packets: Ints, now: float) -> None:
        """These flows have been silent for too long, and so many packets of each count as lost."""
        for agent, own in self._parts.split(flows):
            lost = packets[np.isin(flows, own)]
            self._code.time_out(agent, own.ctypes.data, lost.ctypes.data, len(own), now)

    @property
    def has_failed(self) -> bool:
        """Whether the controller has: what it says is of the part where that was first.

        Raises what kept decisions from being recorded.
        """
        if self._parts.lost:
            raise self._parts.lost
        self._code.find_failure(self._parts.pointer)
        return self._whole.has_failed

    @property
    def steps(self) -> int:
        """How often it was looked whether something is due."""
        return self._whole.steps
