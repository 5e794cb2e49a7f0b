"""Keeps the gates of ports between switches: shut while the port is paused, open otherwise.

The port program writes down from when until when a pause holds (pause.bpf.h); a pause lies ahead for the round trip of
the link, so there is time to be punctual. A gate is a matter of the kernel's lock of all network devices, which others
may hold for milliseconds, so this is a thread of its own: pause frames need not wait for that.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from testbed.base import linux
from testbed.engines.kernel.rack import pause_frames
from testbed.engines.kernel.rack.gate import PortGate
from testbed.engines.kernel.rack.netlink import Netlink

RING = struct.Struct("=I")  # what rings the bell: a port's number


class GateController(threading.Thread):
    """``pauses`` is the kernel's array, indexed by ifindex; ``late`` takes the most ns by which one was shut late."""

    def __init__(self, gates: Sequence[PortGate], pauses: NDArray[np.void], late: NDArray[np.int64]) -> None:
        super().__init__(daemon=True)
        self._gates = {one.port: one for one in gates}
        self._spans = pauses["span"]
        self._late = late
        self._shut: set[int] = set()
        self._next: dict[int, int] = {}  # CLOCK_MONOTONIC ns, by port: when its gate may have to move
        homes = {one.netns for one in gates}
        self._kernel = {netns: _kernel(netns) for netns in homes}
        self._wire = {netns: _socket(netns) for netns in homes}
        self._door, self._bell = os.pipe()

    def heard(self, port: int) -> None:
        """A pause frame came in there."""
        os.write(self._bell, RING.pack(port))

    def run(self) -> None:
        """The thread; ends with its process."""
        while True:
            next_date = min(self._next.values(), default=None)
            left = None if next_date is None else next_date - time.monotonic_ns()
            if linux.wait_readable((self._door,), left):
                rung = os.read(self._door, 1 << 12)  # whole numbers: writes of a few bytes are not cut apart
                self._next |= {port: 0 for (port,) in RING.iter_unpack(rung)}
            now = time.monotonic_ns()
            for port in [port for port, at in self._next.items() if at <= now]:
                self._look(port, now)

    def _look(self, port: int, now: int) -> None:
        held, dates = 0, []
        for span in self._spans[port]:
            until, begin = int(span["until"]), int(span["from"])  # in this order: see read_pause
            if begin <= now < until:
                held = begin
            dates += [date for date in (begin, until) if now < date and begin < until]
        one = self._gates[port]
        if held and port not in self._shut:
            one.shut(self._kernel[one.netns])
            self._shut.add(port)
            self._late[0] = max(int(self._late[0]), time.monotonic_ns() - held)
        elif not held and port in self._shut:
            one.open(self._kernel[one.netns])
            self._shut.remove(port)
            self._wire[one.netns].sendto(one.wake, (one.name, pause_frames.ETHERTYPE))
        if dates:
            self._next[port] = min(dates)
        else:
            del self._next[port]


def _kernel(netns: int) -> Netlink:
    with linux.inside(netns):
        return Netlink()


def _socket(netns: int) -> socket.socket:
    """Sends through a port's queue, and receives nothing."""
    with linux.inside(netns):
        return socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
