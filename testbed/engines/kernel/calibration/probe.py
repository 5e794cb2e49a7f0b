"""Test traffic through the rack before the experiment's: the same packets on the same paths."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.agent.sockets import SEND_BUFFER, SO_SNDBUFFORCE, UDP_SEGMENT
from testbed.base import linux
from testbed.dataplane.programs import RING_SIZE
from testbed.dataplane.ring import Ring
from testbed.dataplane.wire import ACK, DATA_TOS, ROCE_PORT, frame
from testbed.engines.kernel.assembly import Assembly
from testbed.experiment.topology.framing import MOST_INT_HOPS

AT_ONCE = 50  # packets per system call, with UDP_SEGMENT
LARGEST_CALL = 65_507  # bytes that UDP takes in one
ROOM = 3  # of a socket, per byte under way: the kernel counts up to four, and doubles what it is told
SENDING_SECONDS = 0.1  # a call may wait for room
POLL_SECONDS = 0.0005


class Probe:
    """Sends bursts from ``senders`` to ``receiver`` (host names) and collects the acknowledgements."""

    def __init__(self, rack: Assembly, senders: list[str], receiver: str) -> None:
        self.rack = rack
        self.framing = rack.layout.framing.with_int(min(rack.layout.routes.most_hops, MOST_INT_HOPS))
        self.ring = Ring(rack.nic.probe_ring_fd, RING_SIZE)
        self.receiver = receiver
        self._sockets = [self._open(rack.net[sender].netns, rack.net[receiver].IP()) for sender in senders]
        first = len(rack.layout.plan)
        self._frames = [frame(self.framing, first + number, self.framing.payload) for number in range(len(senders))]
        rack.net.connect({(sender, receiver) for sender in senders})

    def _open(self, netns: int, address: str) -> socket.socket:
        with linux.inside(netns):
            opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        opened.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, DATA_TOS)
        opened.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 * SEND_BUFFER)
        if not self.rack.use_netem:
            opened.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(frame(self.framing, 0, self.framing.payload)))
        opened.connect((address, ROCE_PORT))
        return opened

    def close(self) -> None:
        """Close the sockets."""
        for opened in self._sockets:
            opened.close()

    def send(self, packets: int) -> None:
        """Every sender sends so many packets, all as fast as their links take them."""
        left, at_once = packets, self._at_once
        while left:
            count = min(left, at_once)
            for opened, data in zip(self._sockets, self._frames, strict=True):
                self._burst(opened, data, count)
            left -= count

    @contextmanager
    def sending(self, bytes_under_way: float) -> Iterator[None]:
        """Meanwhile all senders send, each with as much under way, from a thread each.

        What arrives for a port while it drains may be more than one core does.
        """
        stop = Event()

        def send(opened: socket.socket, data: bytes) -> None:
            opened.settimeout(SENDING_SECONDS)
            while not stop.is_set():
                with suppress(TimeoutError):
                    self._burst(opened, data, self._at_once)

        room = round(ROOM * (bytes_under_way + LARGEST_CALL))
        for opened in self._sockets:
            opened.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, room)
        with ThreadPoolExecutor(len(self._sockets)) as pool:
            sent = [pool.submit(send, *one) for one in zip(self._sockets, self._frames, strict=True)]
            try:
                yield
            finally:
                stop.set()
        for one in sent:
            one.result()

    @property
    def _at_once(self) -> int:
        return min(AT_ONCE, LARGEST_CALL // len(self._frames[0]))

    def _burst(self, opened: socket.socket, data: bytes, count: int) -> None:
        if self.rack.use_netem:
            for _ in range(count):
                opened.send(data)
        else:
            opened.sendmsg([data] * count)

    def acks(self, expected: int, patience: float) -> NDArray[np.void]:
        """The acknowledgements of ``expected`` packets, or those that came within ``patience`` wall seconds."""
        deadline = time.monotonic() + patience
        while len(self.ring.waiting()) < expected and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return self.take()

    def take(self) -> NDArray[np.void]:
        """What has come back so far, acknowledgements only."""
        records: NDArray[Any] = self.ring.waiting().copy()
        self.ring.consume(len(records))
        acks: NDArray[Any] = records[records["opcode"] == ACK]
        return acks
