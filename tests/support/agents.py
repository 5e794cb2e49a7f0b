"""An agent's datapath between real UDP sockets on the loopback network and a ring buffer that the test fills."""

from __future__ import annotations

import random
import socket
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from types import TracebackType

import numpy as np
import pytest

from testbed.agent.columns import ENDLESS, Flows
from testbed.agent.datapath import Datapath
from testbed.agent.histogram import TimeHistogram
from testbed.agent.pace import DelayRing, Pace, PacingStats, Pauses
from testbed.agent.paths import PathState
from testbed.agent.sockets import Route, Sockets
from testbed.agent.structs import library
from testbed.agent.tasks import TaskGraph
from testbed.chooser import PathChooser
from testbed.clock import Clock
from testbed.compiled.choosers import Choosers
from testbed.controller import Paths
from testbed.dataplane import wire
from testbed.experiment.topology import framing
from testbed.experiment.topology.framing import Framing
from testbed.plugin import PluginConfig
from testbed.registry import Plugin

HEADER = 8
BUSY = 1 << 31
PATIENCE = 10.0  # s, for what was sent to arrive
SLOT = 1e-6  # s that a full packet takes at line rate, in all these tests
EPOCH = 1 << 44  # ns: nominal time 0
DILATION = 1000.0
MTU_OF_LOOPBACK = 65536
# A batch is cut apart by the kernel, or sent packet by packet where it cannot.
SEGMENT = pytest.mark.parametrize("segment", [True, False], ids=["segmented", "single"])


class FakeRing:
    """What `testbed.dataplane.ring.Ring` offers, in plain memory; the test is the kernel."""

    def __init__(self, size: int = 1 << 16) -> None:
        self.fd = -1
        self.size = size
        self.positions = np.zeros(2, np.uint64)  # consumer, producer
        self.data = np.zeros(2 * size, np.uint8)  # a record that begins before the end runs on behind it

    def addresses(self) -> tuple[int, int, int]:
        start = self.positions.ctypes.data
        return start, start + 8, self.data.ctypes.data

    @property
    def waiting(self) -> int:
        """Records that have not been given back."""
        return int(self.positions[1] - self.positions[0]) // (HEADER + wire.RECORD.itemsize)

    def put(self, record: np.ndarray, busy: bool = False) -> int:
        """Append one record; returns where its header is."""
        step = HEADER + record.itemsize
        end = int(self.positions[1])
        assert end + step - int(self.positions[0]) < self.size, "the ring is full"
        at = end % self.size
        self.data[at : at + HEADER].view(np.uint32)[:] = record.itemsize | (BUSY if busy else 0), 0
        self.data[at + HEADER : at + step] = np.frombuffer(record.tobytes(), np.uint8)
        self.positions[1] += np.uint64(step)
        return at

    def finish(self, at: int) -> None:
        """A record that was being written is complete."""
        self.data[at : at + 4].view(np.uint32)[0] &= BUSY - 1


@dataclass(frozen=True)
class Packet:
    """What arrived at the receiver."""

    flow: int
    size: int  # of the frame
    payload: int
    entropy: int  # 0 without a path chooser


@dataclass
class Bench:
    """``hosts[i]`` is the host of flow i; all flows go to one receiver, which sees them in the order of sending."""

    hosts: tuple[int, ...] = (0,)
    size: float = np.inf
    payload: int = 100
    int_hops: int = 0
    burst: int = 1
    credit: float = 1.0
    bucket: int | None = None  # packets; the uplinks count (from `uplink` on) what has left the hosts' shapers
    held: float = 0.0
    first: int = 0
    segment: bool = True
    relook: float = 0.0  # slots; hosts may be paused if it is given
    ring: FakeRing = field(default_factory=FakeRing)
    also: tuple[tuple[FakeRing, float], ...] = ()  # more rings, and for how long they are held
    tasks: TaskGraph | None = None
    timeout: float = 0.0  # slots; flows have many paths if it is given
    base_rtt: float = 1000.0  # slots, of many paths
    chooser: type[PathChooser] | None = None  # None: switches choose them

    def __post_init__(self) -> None:
        n = len(self.hosts)
        self.framing = Framing(self.payload, self.int_hops)
        self.wire_size = self.framing.wire_size
        self.line_rate = self.wire_size * 8 / SLOT
        self.receiver = self._listen()
        address = self.receiver.getsockname()[0]
        routes = [Route(self.first + i, None, address, address, self.size) for i in range(n)]
        self.sockets = Sockets(routes, self.framing, self.segment)
        self.flows = Flows(n)
        self.flows.to_send[:] = ENDLESS if np.isinf(self.size) else int(np.ceil(self.size / self.payload))
        self.uplink = max(self.hosts) + 1
        self.arrivals = np.zeros(2 * self.uplink, wire.ARRIVALS)
        pace = Pace(
            host=np.array(self.hosts, np.int64),
            line_rate=np.full(n, self.line_rate),
            wire_size=self.wire_size,
            payload=self.payload,
            burst=self.burst,
            at_once=0,
            credit=self.credit,
            quantum=0.0,
            hops=np.full(n, self.int_hops),
            first=self.first,
            segment=self.segment,
            wake_by_ring=False,
            int_on=self.int_hops > 0,
            arrivals=self.arrivals,
            interface=np.arange(self.uplink),
            bucket=(self.bucket or 0) * self.wire_size,
            uplink=None if self.bucket is None else self.uplink + np.arange(self.uplink),
            pauses=self._pauses() if self.relook else None,
        )
        self.lags = PacingStats(TimeHistogram(16), *(TimeHistogram(4) for _ in range(4)))
        rings = [DelayRing(*one) for one in ((self.ring, self.held), *self.also)]  # type: ignore[arg-type]
        code = library(self.timeout > 0)
        many_paths = None
        if self.timeout:
            base_rtt = np.full(n, self.base_rtt * SLOT)
            many_paths = PathState(self.timeout * SLOT, base_rtt, self._choosers(pace), self._plugin())
        self.datapath = Datapath(
            self.flows, self.sockets, rings, pace, self.lags, code=code, tasks=self.tasks, many_paths=many_paths
        )
        self.clock = Clock(DILATION, EPOCH)
        self.datapath.begin(self.clock)

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.receiver.close()
        for one in self.sockets._sockets:
            one.close()

    def _choosers(self, pace: Pace) -> Choosers | None:
        paths = Paths(pace.line_rate, np.full(len(self.hosts), 8 * SLOT), pace.hops, self.payload, self.wire_size)
        numbers = self.first + np.arange(len(self.hosts))
        return self.chooser and Choosers(self.chooser, PluginConfig(), paths, numbers, seed=1, compiled=False)

    def _plugin(self) -> Plugin | None:
        return self.chooser and Plugin("path chooser", self.chooser.name, self.chooser, "here", Path(__file__))

    def _pauses(self) -> Pauses:
        hosts = max(self.hosts) + 1
        self.notes = np.zeros(hosts, wire.PAUSE)
        return Pauses(self.notes, np.arange(hosts), self.relook * SLOT)

    def pause(self, begin: float, end: float, host: int = 0, newest: int = 0) -> None:
        """What nic_rx records; times in slots."""
        self.notes["span"]["from"][host, newest] = self.stamp(begin * SLOT)
        self.notes["span"]["until"][host, newest] = self.stamp(end * SLOT)

    @staticmethod
    def _listen() -> socket.socket:
        """At an address of 127/8 that nobody else uses: tests may run side by side."""
        while True:
            opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
            opened.setblocking(False)
            chosen = random.SystemRandom()
            try:
                opened.bind((f"127.{chosen.randint(1, 254)}.{chosen.randint(1, 254)}.1", wire.ROCE_PORT))
            except OSError:
                opened.close()
            else:
                return opened

    # -- sending ----------------------------------------------------------------------------------------------------

    def start(self, share: float = 1.0, window: float = np.inf, now: float = 0.0) -> None:
        """Start all flows with ``share`` of the line rate and ``window`` packets."""
        self.flows.rate[:] = share * self.line_rate
        self.flows.window[:] = window * self.wire_size
        self.datapath.started[:] = 1
        self.change(now)

    def change(self, now: float) -> None:
        """Rates, windows or what is left have changed."""
        self.datapath.reschedule(np.arange(len(self.hosts)), now)

    def at(self, slots: float) -> list[Packet]:
        """What is sent when the agent wakes up ``slots`` slots after nominal time 0."""
        before = self._sent()
        self.datapath.send_due(slots * SLOT)
        assert self.datapath.c.send_error == 0
        return self.arrived(self._sent() - before)

    def _sent(self) -> int:
        return int(self.flows.sent.sum() + self.flows.again.sum())

    def arrived(self, least: int = 0) -> list[Packet]:
        """What the receiver got since it was asked last; it waits for ``least``, which a busy kernel delivers later."""
        found = list[Packet]()
        while True:
            try:
                carried = self.receiver.recv(1 << 16)
            except BlockingIOError:
                if len(found) < least and select([self.receiver], [], [], PATIENCE)[0]:
                    continue
                return found
            _, _, _, qp, _, entropy = wire.BTH.unpack_from(carried)
            _, size, payload, *_ = wire.SHIM.unpack_from(carried, wire.BTH.size)
            assert len(carried) + framing.ETHERNET_IP_UDP == size
            found.append(Packet(qp - wire.QP_BASE, size, payload, entropy))

    # -- feedback ---------------------------------------------------------------------------------------------------

    def stamp(self, seconds: float) -> int:
        return EPOCH + round(seconds * DILATION * 1e9)

    def record(self, flow: int = 0, psn: int = 0, rx: float = 0.0, tx: float = 0.0, **values: object) -> np.ndarray:
        """A record as the NIC program writes it; times in slots."""
        made = np.zeros(1, wire.RECORD)
        made["rx_ns"], made["tx_ns"] = self.stamp(rx * SLOT), self.stamp(tx * SLOT)
        made["flow"], made["psn"] = flow, psn & 0xFFFFFF
        made["opcode"], made["frame"], made["payload"] = wire.ACK, self.wire_size, self.payload
        for name, value in values.items():
            made[name] = value
        return made

    def ack(self, *psns: int, flow: int = 0, **values: object) -> None:
        """These packets come back."""
        for psn in psns:
            self.ring.put(self.record(flow, psn, **values))  # type: ignore[arg-type]

    def cnp(self, flow: int = 0, rx: float = 0.0) -> None:
        self.ring.put(self.record(flow, opcode=wire.CNP, tx_ns=0, rx=rx))

    def read_feedback(self, slots: float = 0.0):
        """Rows that are due by then."""
        return self.datapath.read_feedback(slots * SLOT, want_int=self.int_hops > 0)
