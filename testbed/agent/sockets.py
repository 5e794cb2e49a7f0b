"""The sockets of an agent's flows: connected UDP sockets, opened inside the hosts' namespaces.

Several packets of a socket go to the kernel in one system call (UDP_SEGMENT), which costs about as much as one packet.
Queue pair numbers tell flows apart, so all flows from one host to another with one DSCP share a socket, and whichever
are due leave together. Their source port is the same then. Where paths are chosen by it (ECMP), each flow has a socket
of its own.
"""

from __future__ import annotations

import contextlib
import resource
import socket
from dataclasses import dataclass

import numpy as np

from testbed.base import linux
from testbed.base.arrays import Floats, Ints
from testbed.dataplane.wire import DATA_TOS, FIRST_PORT, RACK, Tag, frame
from testbed.experiment.topology.framing import Framing

UDP_SEGMENT = 103
SO_SNDBUFFORCE = 32

PORTS = 0x4000
FILES = 256  # that an agent needs besides its sockets
SEND_BUFFER = 256 << 20  # only the shaper below may hold packets back; a full queue may be all of one flow


@dataclass(frozen=True)
class Route:
    """Where a flow runs."""

    flow: int  # number in the rack
    netns: int | None  # descriptor of the sender's namespace; None for this one
    src: str  # address
    dst: str  # address
    size: float  # bytes of payload; inf for endless
    tos: int = DATA_TOS  # DSCP and ECN of its packets


class Sockets:
    """Descriptors of the flows, as a column for the datapath, and the packet that it sends with their numbers in it.

    The last new packet of a flow may be short; retransmissions are full, since packets are interchangeable.
    """

    def __init__(
        self, routes: list[Route], framing: Framing, segment: bool, own_ports: bool = False, tag: Tag = RACK
    ) -> None:
        n = len(routes)
        self._port, self._segment, self._routes = tag.port, segment, routes
        self.packet = np.frombuffer(frame(framing, 0, framing.payload, tag), np.uint8)
        sizes = np.array([route.size for route in routes])
        self.short_at, self.short_sizes = short_packets(sizes, framing.payload, len(self.packet))
        self.fds = np.empty(n, np.int64)
        self._sockets: list[socket.socket] = []  # close with this
        fd_between: dict[tuple[str, str, int, int], int] = {}
        if own_ports:
            _allow_files(n)
        for row, route in enumerate(routes):
            between = (route.src, route.dst, route.tos, route.flow if own_ports else -1)
            if between not in fd_between:
                self._sockets.append(self._open(route, segment))
                fd_between[between] = self._sockets[-1].fileno()
            self.fds[row] = fd_between[between]

    def connect(self, routes: list[Route]) -> list[int]:
        """Flows go where these say from now on, through sockets of their own. Returns the rows of those that change.

        The old sockets stay open, so that what they have taken leaves.
        """
        changed = [row for row, pair in enumerate(zip(self._routes, routes, strict=True)) if pair[0] != pair[1]]
        for row in changed:
            self._sockets.append(self._open(routes[row], self._segment))
            self.fds[row] = self._sockets[-1].fileno()
        self._routes = routes
        return changed

    def _open(self, route: Route, segment: bool) -> socket.socket:
        where = linux.inside(route.netns) if route.netns is not None else contextlib.nullcontext()
        with where:
            opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        opened.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, route.tos)
        try:
            opened.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, SEND_BUFFER)
        except PermissionError:  # not root: as much as the system allows
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        if segment:
            opened.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(self.packet))
        for attempt in range(PORTS):
            with contextlib.suppress(OSError):
                opened.bind((route.src, FIRST_PORT + (route.flow + attempt) % PORTS))
                break
        opened.connect((route.dst, self._port))
        return opened


def short_packets(size: Floats, payload: int, full: int) -> tuple[Ints, Ints]:
    """Of flows of these sizes: number and bytes of the one packet that is not full; -1 and 0 where there is none."""
    finite = np.where(np.isfinite(size), size, 0.0)
    rest = (finite % payload).astype(np.int64)
    return np.where(rest, finite // payload, -1).astype(np.int64), np.where(rest, full - payload + rest, 0)


def _allow_files(more: int) -> None:
    """Raise the limit of open files for as many sockets, or as far as the system allows."""
    wanted = more + FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # not root: the hard limit holds
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))
            return
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
