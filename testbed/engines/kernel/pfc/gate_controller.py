"""Operates the gates of ports that can be paused: shut while the port, or a queue of it, is paused, open otherwise.

The port program records when a pause begins and ends (pause.bpf.h); a pause lies ahead for the round trip of the link,
so there is time to be punctual. Moving a gate takes the kernel's lock of all network devices (RTNL), which others may
hold for milliseconds, so this is a thread of its own: pause frames need not wait for that.
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
from testbed.engines.kernel.pfc.watchdog import PauseWatchdog
from testbed.engines.kernel.rack import pause_frames
from testbed.engines.kernel.rack.gate import PortGate
from testbed.engines.kernel.rack.netlink import Netlink

PORT = struct.Struct("=I")  # a message on the wake-up pipe: a port's ifindex


class GateController(threading.Thread):
    """``pauses`` is the kernel's array, by row; ``late`` takes the largest delay of a shut gate, in ns."""

    def __init__(
        self,
        gates: Sequence[PortGate],
        pauses: NDArray[np.void],
        late: NDArray[np.int64],
        watchdog: PauseWatchdog | None,
    ) -> None:
        super().__init__(daemon=True)
        self._gates = {port: [one for one in gates if one.port == port] for port in {one.port for one in gates}}
        self._spans = pauses["span"]
        self._late = late
        self._watchdog = watchdog
        self._shut: set[PortGate] = set()
        self._next: dict[PortGate, int] = {}  # CLOCK_MONOTONIC ns: when it may have to move
        namespaces = {one.netns for one in gates}
        self._kernel = {netns: _kernel(netns) for netns in namespaces}
        self._wire = {netns: _socket(netns) for netns in namespaces}
        self._wake_reader, self._wake_writer = os.pipe()

    def pause_received(self, port: int) -> None:
        """A pause frame came in at this port."""
        os.write(self._wake_writer, PORT.pack(port))

    def run(self) -> None:
        """The thread; ends with its process."""
        while True:
            next_move = min(self._next.values(), default=None)
            left = None if next_move is None else next_move - time.monotonic_ns()
            if linux.wait_readable((self._wake_reader,), left):
                messages = os.read(self._wake_reader, 1 << 12)  # whole messages: writes this short are atomic
                self._next |= {one: 0 for (port,) in PORT.iter_unpack(messages) for one in self._gates[port]}
            now = time.monotonic_ns()
            for one in [one for one, at in self._next.items() if at <= now]:
                self._update(one, now)

    def _update(self, one: PortGate, now: int) -> None:
        paused_since, moves = 0, []
        for span in self._spans[one.rows].reshape(-1):
            until, begin = int(span["until"]), int(span["from"])  # in this order: see read_pause
            if begin <= now < until:
                paused_since = min(paused_since or begin, begin)
            moves += [at for at in (begin, until) if now < at and begin < until]
        shut = paused_since > 0
        if self._watchdog:
            defied, look = self._watchdog.look(one, shut, now)
            shut = shut and not defied
            moves += [] if look is None else [look]
        if shut and one not in self._shut:
            one.shut(self._kernel[one.netns])
            self._shut.add(one)
            self._late[0] = max(int(self._late[0]), time.monotonic_ns() - paused_since)
        elif not shut and one in self._shut:
            one.open(self._kernel[one.netns])
            self._shut.remove(one)
            self._wire[one.netns].sendto(one.wake, (one.name, pause_frames.ETHERTYPE))
        if moves:
            self._next[one] = min(moves)
        else:
            del self._next[one]


def _kernel(netns: int) -> Netlink:
    with linux.inside(netns):
        return Netlink()


def _socket(netns: int) -> socket.socket:
    """Sends through a port's queue and receives nothing."""
    with linux.inside(netns):
        return socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
