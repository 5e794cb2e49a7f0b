"""Packets put into one port of a switch from inside the switch: for links that ECMP alone would choose.

They are data packets with room for one INT record, as large as the experiment's, and go through the port's program and
its shaper like all others. The peer counts them, receives them if it listens, and then drops them: no
host has their address.
"""

from __future__ import annotations

import socket
import struct
import time
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from testbed.agent.sockets import SO_SNDBUFFORCE
from testbed.base import linux
from testbed.base.arrays import Floats
from testbed.dataplane.wire import BTH, DATA_TOS, INT_HEADER, INT_HOP, ROCE_PORT, SHIM, frame
from testbed.engines.kernel.assembly import Assembly
from testbed.engines.kernel.calibration.rates import steady_rate
from testbed.experiment.topology.framing import ETHERNET_IP_UDP
from testbed.experiment.topology.shape import SwitchPort

NO_HOST = bytes.fromhex("02ff00000000")
ETHERNET, IPV4, UDP = struct.Struct("!6s6sH"), struct.Struct("!BBHHHBBH4s4s"), struct.Struct("!HHHH")
ETH_P_IP, VERSION_IHL, TTL, ANY = 0x0800, 0x45, 64, bytes(4)
TOS_AT, CE = ETHERNET.size + 1, 3
HOP_AT = ETHERNET_IP_UDP + BTH.size + SHIM.size + INT_HEADER.size  # of the only INT record
SO_RCVBUFFORCE = 33
RECEIVED_BYTES = 2048  # of kernel memory per packet that waits to be read, and a little more
POLL_SECONDS, POLLS = 0.0005, 60  # at most between two polls; of a burst that a fast link carries soon
SLOW_POLL_SECONDS = 200e-6  # a poll that took longer has no usable time; where system calls are slow it takes 100 us


class Injection:
    """A way into one port."""

    def __init__(self, rack: Assembly, place: SwitchPort) -> None:
        self.rack, self.place = rack, place
        self.port = rack.net.ports[rack.layout.shape.position[place.name]]
        self._framing = rack.layout.framing.with_int(1)
        self.size = self._framing.wire_size
        self._socket = _raw(rack.net[place.switch].netns)
        # The kernel counts more than a packet's bytes.
        self._socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 8 * self.port.buffer + (4 << 20))
        self._socket.bind((place.name, 0))  # receives nothing
        self._frame = _on_the_wire(frame(self._framing, 0, self._framing.payload))
        self._listener: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._socket.close()
        if self._listener:
            self._listener.close()

    def listen(self, packets: int) -> None:
        """From now on keep what arrives at the peer, up to so many packets."""
        self._listener = _raw(self.rack.net[self.place.peer.node].netns)
        self._listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, packets * (self.size + RECEIVED_BYTES))
        self._listener.bind((self.place.peer.interface, ETH_P_IP))

    def received(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Of each packet the bytes that it found in the port's queue, by INT, and whether it was marked."""
        queues, marked = [], []
        while self._listener:
            try:
                packet = self._listener.recv(HOP_AT + INT_HOP.size, socket.MSG_DONTWAIT | socket.MSG_TRUNC)
            except BlockingIOError:
                break
            _, queue, *_ = INT_HOP.unpack_from(packet, HOP_AT)
            queues.append(queue)
            marked.append(packet[TOS_AT] & CE == CE)
        return np.array(queues, float), np.array(marked, bool)

    def send(self, packets: int) -> None:
        """As fast as this machine does."""
        linux.send_many(self._socket.fileno(), self._frame, packets)

    def rate(self, seconds: float, least: int, skipped: int) -> float:
        """Nominal bit/s at which packets come out of the link, by polling its end; 0 if too few do.

        So many that they keep the port busy for ``seconds`` of wall time, at least ``least``, but no more than fit into
        its buffer; the first ``skipped`` do not count.
        """
        fitting = int(0.9 * self.port.buffer / self.size)
        packets = min(max(least, round(seconds * self.port.rate / 8 / self.size)), fitting)
        before = self._arrived()
        self.send(packets)
        seen = []
        carrying = packets * self.size * 8 / self.port.rate
        deadline = time.monotonic() + 4 * carrying
        while time.monotonic() < deadline:
            began = time.monotonic_ns()
            bytes_out = self._arrived() - before
            took = time.monotonic_ns() - began
            if bytes_out >= packets * self.size:
                break
            if bytes_out > skipped * self.size and took < SLOW_POLL_SECONDS * 1e9:
                seen.append((began + took / 2, bytes_out))
            time.sleep(min(POLL_SECONDS, carrying / POLLS))
        if not seen:
            return 0.0
        times, carried = np.array(seen, float).T
        if carried[-1] - carried[0] < least * self.size / 2:
            return 0.0
        whole = (carried[-1] - carried[0]) / (times[-1] - times[0])
        rate = steady_rate(times, carried) or whole  # a shallow buffer is empty after a few polls
        return float(rate) * 8 / self.rack.clock.seconds_per_ns

    @property
    def passed(self) -> int:
        """Packets that have come out of the link so far."""
        return int(self.rack.nic.arrivals["packets"][self.port.peer])

    def _arrived(self) -> int:
        return int(self.rack.nic.arrivals["bytes"][self.port.peer])

    def wait_until_quiet(self, longest: float) -> None:
        """Until all that is in the shaper has come out, or twice ``longest`` s have passed."""
        deadline = time.monotonic() + 2 * longest + 0.2
        while np.uint64(self._arrived()) != self.rack.programs.counters["bytes"][self.port.ifindex]:
            if time.monotonic() > deadline:
                return
            time.sleep(0.002)


def _raw(netns: int) -> socket.socket:
    with linux.inside(netns):
        return socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)


def _on_the_wire(carried: bytes) -> bytes:
    """Ethernet, IPv4 and UDP around what a sender's socket carries; without checksums, which are not checked there."""
    udp = UDP.pack(ROCE_PORT, ROCE_PORT, UDP.size + len(carried), 0)
    length = IPV4.size + UDP.size + len(carried)
    ip = IPV4.pack(VERSION_IHL, DATA_TOS, length, 0, 0, TTL, socket.IPPROTO_UDP, 0, ANY, ANY)
    return ETHERNET.pack(NO_HOST, NO_HOST, ETH_P_IP) + ip + udp + carried
