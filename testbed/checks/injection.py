"""Packets put into one port of a switch from inside the switch: for cables that ECMP alone would choose.

They go through the port's program and its shaper like all others. At the far end they are counted, and then dropped:
they are addressed to nobody.
"""

from __future__ import annotations

import socket
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from testbed import linux
from testbed.agent.sockets import SO_SNDBUFFORCE

if TYPE_CHECKING:
    from testbed.emulate import Emulation
    from testbed.rack.shape import SwitchPort

NOBODY = bytes.fromhex("02ff00000000")
EXPERIMENTAL = 0x88B5  # ethertype for local experiments
LOOK_SECONDS = 0.0005
SURE_SECONDS = 50e-6  # a look that took longer does not know when it was


class Injection:
    """A way into one port."""

    def __init__(self, run: Emulation, place: SwitchPort) -> None:
        self.run = run
        self.port = run.rack.ports[run.shape.position[place.name]]
        self.size = run.framing.wire_size
        with linux.inside(run.rack[place.switch].netns):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
        # The kernel counts more than a packet's bytes.
        self._socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 8 * self.port.buffer + (4 << 20))
        self._socket.bind((place.name, EXPERIMENTAL))
        header = NOBODY + NOBODY + EXPERIMENTAL.to_bytes(2, "big")
        self._frame = header + bytes(self.size - len(header))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._socket.close()

    def send(self, packets: int) -> None:
        """As fast as this machine does."""
        linux.send_many(self._socket.fileno(), self._frame, packets)

    def rate(self, seconds: float, least: int, skipped: int) -> float:
        """Nominal bit/s at which packets come out of the cable, by looking at its end; 0 if they hardly do.

        So many that they keep the port busy for ``seconds`` of wall time, at least ``least``, but no more than fit into
        its buffer; the first ``skipped`` do not count.
        """
        fitting = int(0.9 * self.port.buffer / self.size)
        packets = min(max(least, round(seconds * self.port.rate / 8 / self.size)), fitting)
        before = self._arrived()
        self.send(packets)
        seen = []
        deadline = time.monotonic() + 4 * packets * self.size * 8 / self.port.rate
        while time.monotonic() < deadline:
            began = time.monotonic_ns()
            bytes_out = self._arrived() - before
            took = time.monotonic_ns() - began
            if bytes_out >= packets * self.size:
                break
            if bytes_out > skipped * self.size and took < SURE_SECONDS * 1e9:
                seen.append((began + took / 2, bytes_out))
            time.sleep(LOOK_SECONDS)
        if len(seen) < 2:
            return 0.0
        (first, from_bytes), (last, to_bytes) = seen[0], seen[-1]
        if to_bytes - from_bytes < least * self.size / 2:
            return 0.0
        return (to_bytes - from_bytes) * 8 / ((last - first) * self.run.clock.seconds_per_ns)

    def _arrived(self) -> int:
        return int(self.run.nic.arrivals["bytes"][self.port.peer])

    def wait_until_quiet(self, longest: float) -> None:
        """Until all that is in the shaper has come out, or twice ``longest`` s have passed."""
        deadline = time.monotonic() + 2 * longest + 0.2
        while np.uint64(self._arrived()) != self.run.programs.counters["bytes"][self.port.ifindex]:
            if time.monotonic() > deadline:
                return
            time.sleep(0.002)
