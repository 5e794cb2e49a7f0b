"""The sockets of an agent's flows: one connected UDP socket per flow, opened inside its host's namespace.

Several packets of a flow go to the kernel in one system call (UDP_SEGMENT), which costs about as much as one packet.
"""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass

import numpy as np

from testbed import linux
from testbed.dataplane.wire import DATA_TOS, ROCE_PORT, Framing, frame

UDP_SEGMENT = 103
SO_SNDBUFFORCE = 32
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
    """Descriptors and packet templates of the flows, as columns for the datapath.

    The last new packet of a flow may be short; retransmissions are full, since packets are interchangeable.
    """

    def __init__(self, routes: list[Route], framing: Framing, segment: bool) -> None:
        n = len(routes)
        self.segment_size = len(frame(framing, 0, framing.payload))
        self.packets = np.zeros((n, self.segment_size), np.uint8)
        self.short_packets = np.zeros((n, self.segment_size), np.uint8)
        self.short_sizes = np.zeros(n, np.int64)  # 0 where the flow has no short packet
        self.short_at = np.full(n, -1)  # its packet number
        self._sockets = [self._open(route, segment) for route in routes]
        self.fds = np.array([one.fileno() for one in self._sockets], np.int64)
        for row, route in enumerate(routes):
            self.packets[row] = np.frombuffer(frame(framing, route.flow, framing.payload), np.uint8)
            rest = int(route.size % framing.payload) if np.isfinite(route.size) else 0
            if rest:
                short = frame(framing, route.flow, rest)
                self.short_packets[row, : len(short)] = np.frombuffer(short, np.uint8)
                self.short_sizes[row], self.short_at[row] = len(short), int(route.size // framing.payload)

    def _open(self, route: Route, segment: bool) -> socket.socket:
        where = linux.inside(route.netns) if route.netns is not None else contextlib.nullcontext()
        with where:
            opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        opened.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, DATA_TOS)
        try:
            opened.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, SEND_BUFFER)
        except PermissionError:  # not root: as much as the system allows
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        if segment:
            opened.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, self.segment_size)
        for attempt in range(PORTS):
            with contextlib.suppress(OSError):
                opened.bind((route.src, FIRST_PORT + (route.flow + attempt) % PORTS))
                break
        opened.connect((route.dst, ROCE_PORT))
        return opened
