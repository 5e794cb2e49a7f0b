"""The sockets of an agent's flows: one connected UDP socket per flow, opened inside its host's namespace.

Several packets of a flow go to the kernel in one system call (UDP_SEGMENT), which costs about as much as one packet.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from testbed import linux
from testbed.dataplane.wire import ROCE_PORT, Framing, frame

UDP_SEGMENT = 103
ECT0 = 2
FIRST_PORT = 0xC000  # RoCEv2 takes source ports from the dynamic range, for ECMP entropy
PORTS = 0x4000
SEND_BUFFER = 4 << 20  # the shaper below must be the only one to hold packets back


@dataclass(frozen=True)
class Route:
    """Where a flow runs."""

    flow: int  # number in the rack
    netns: int | None  # descriptor of the sender's namespace; None for this one
    src: str  # address
    dst: str  # address
    size: float  # bytes of payload; inf for endless


class Sockets:
    """Sends packets of flows; numbers are within the agent."""

    def __init__(self, routes: list[Route], framing: Framing, segment: bool) -> None:
        self.framing = framing
        self.segment = segment
        self._full = [frame(framing, route.flow, framing.payload) for route in routes]
        self._send: list[Callable[[bytes], int]] = []
        self._send_many: list[Callable[[list[bytes]], int]] = []
        self._short: dict[int, tuple[int, bytes]] = {}
        for number, route in enumerate(routes):
            opened = self._open(route)
            self._send.append(opened.send)
            self._send_many.append(opened.sendmsg)
            if np.isfinite(route.size) and route.size % framing.payload:
                rest = int(route.size % framing.payload)
                self._short[number] = (int(route.size // framing.payload), frame(framing, route.flow, rest))

    def _open(self, route: Route) -> socket.socket:
        where = linux.inside(route.netns) if route.netns is not None else contextlib.nullcontext()
        with where:
            opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        opened.setblocking(False)
        opened.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECT0)
        opened.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_SNDBUFFORCE", 32), SEND_BUFFER)
        if self.segment:
            opened.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(self._full[0]))
        for attempt in range(PORTS):
            with contextlib.suppress(OSError):
                opened.bind((route.src, FIRST_PORT + (route.flow + attempt) % PORTS))
                break
        opened.connect((route.dst, ROCE_PORT))
        return opened

    def send(self, flow: int, packets: int, already_sent: int) -> bool:
        """Send packets of a flow; False if the kernel took none of them."""
        try:
            if flow in self._short:
                self._send_with_short(flow, packets, already_sent)
            elif packets == 1:
                self._send[flow](self._full[flow])
            else:
                self._send_full(flow, packets)
        except BlockingIOError:
            return False
        return True

    def _send_full(self, flow: int, count: int) -> None:
        if self.segment:
            self._send_many[flow]([self._full[flow]] * count)
        else:
            for _ in range(count):
                self._send[flow](self._full[flow])

    def _send_with_short(self, flow: int, count: int, already_sent: int) -> None:
        """The last new packet of a flow may be short; retransmissions are full (packets are interchangeable)."""
        position, short = self._short[flow]
        before = min(max(position - already_sent, 0), count) if already_sent <= position else count
        if before:
            self._send_full(flow, before)
        if already_sent <= position < already_sent + count:
            self._send[flow](short)
            if count - before - 1:
                self._send_full(flow, count - before - 1)
