"""The maps of switch ports, which tuners and recorders read and write: a rack's, or those that a switch has pinned.

Values in here are wall-clock values, as the programs need them.
"""

from __future__ import annotations

import mmap
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testbed.clock import WallRate
from testbed.dataplane import libbpf, wire
from testbed.dataplane.flow_table import Table

OWN_MAPS = ("port_config", "port_counters", "port_red", "port_queue")
SIZES = {
    "port_config": wire.PORT_CONFIG.size,
    "port_red": wire.PORT_RED.size,
    "port_queue": wire.PORT_QUEUE.size,
}
FLAGS = {"port_config": libbpf.BPF_ANY, "port_red": libbpf.BPF_F_LOCK, "port_queue": libbpf.BPF_ANY}
MAPS = (*OWN_MAPS, "ingresses", "pauses")  # those of priority flow control may be shared with the NICs


def view(fd: int, dtype: np.dtype, entries: int) -> NDArray[np.void]:
    """A map's elements in the kernel's memory."""
    size = -(-dtype.itemsize * entries // mmap.PAGESIZE) * mmap.PAGESIZE
    return np.frombuffer(mmap.mmap(fd, size, mmap.MAP_SHARED), dtype, entries)


@dataclass(frozen=True)
class Port:
    """One switch port as the kernel sees it: wall-clock rate."""

    ifindex: int
    node: int  # switch number << 16 | port number
    rate: WallRate  # bit/s
    buffer: int  # bytes
    slack: int  # bytes by which the shaper's backlog may differ from the virtual queue
    loss: float = 0.0  # probability of a random drop
    peer: int = 0  # ifindex at the other end of the link; 0: the shaper is not compared with the virtual queue

    def scarce_room(self, packet: int) -> int:
        """Bytes of the buffer, at its end, in which chance decides which packets of this size get in."""
        return max(packet, min(wire.SCARCE * packet, self.buffer // 8))


class PortMaps(ABC):
    """Arrays are indexed by ifindex. What is not an array of counters is written and read element by element."""

    flow_table: Table | None = None  # where flows are counted
    counters: NDArray[np.void]  # of dtype `testbed.dataplane.wire.PORT_COUNTERS`
    arrivals: NDArray[np.void]  # of dtype `testbed.dataplane.wire.ARRIVALS`
    ingresses: NDArray[np.void]
    pauses: NDArray[np.void]
    departures: NDArray[np.void] | None = None  # of dtype `testbed.dataplane.wire.DEPARTURES`, with several queues
    bolt: NDArray[np.void] | None = None  # of dtype `testbed.dataplane.wire.PORT_BOLT`, where ports send SRCs

    @abstractmethod
    def write(self, name: str, ifindex: int, value: bytes) -> None:
        """Set an element of the map of this name."""

    @abstractmethod
    def read(self, name: str, ifindex: int) -> bytes:
        """Get an element of the map of this name."""

    def configure(self, port: Port, seed: int) -> None:
        """Switch a port on: from now on its queue drains at ``port.rate``."""
        random = (seed * 2654435761 + port.ifindex * 40503) % (2**32 - 1) + 1  # xorshift must not start at 0
        self.write("port_queue", port.ifindex, wire.PORT_QUEUE.pack(0, random, *bytes(8)))
        self.set_loss(port, port.loss)

    def set_host_loss(self, interface: int, loss: float) -> None:
        """Lose packets that a host sends with this probability; ``interface``: where `nic_tx` sees them."""
        self.arrivals["loss"][interface] = loss and max(1, round(loss * (1 << 32)) - 1)

    def set_loss(self, port: Port, loss: float) -> None:
        """Lose packets of a running port with this probability; 1 also loses what is on its link already."""
        self._set(port, port.buffer, max(0, round(loss * 2**32) - 1))

    def set_rate(self, port: Port) -> None:
        """Let a running port drain at ``port.rate``, and nothing else change."""
        _, _, _, buffer, _, _, loss, *_ = wire.PORT_CONFIG.unpack(self.read("port_config", port.ifindex))
        self._set(port, buffer, loss)

    def _set(self, port: Port, buffer: int, loss: int) -> None:
        bytes_per_second = port.rate / 8
        drain = round(bytes_per_second / 1e9 * (1 << wire.RATE_SHIFT))
        config = wire.PORT_CONFIG.pack(
            drain,
            round(bytes_per_second),
            2**63 // drain,
            buffer,
            port.node,
            round(port.rate / 1e3),
            loss,
            port.slack,
            port.peer,
        )
        self.write("port_config", port.ifindex, config)

    def rate_and_buffer(self, ifindex: int) -> tuple[WallRate, int]:
        """Rate and buffer of a port that was switched on: bit/s and bytes."""
        raw = self.read("port_config", ifindex)
        _, bytes_per_second, _, buffer, *_ = wire.PORT_CONFIG.unpack(raw)
        return WallRate(bytes_per_second * 8.0), buffer

    def set_red(self, ifindex: int, kmin: float, kmax: float, pmax: float) -> None:
        """Set all three thresholds at once (bytes, bytes, probability); no packet sees a mixture."""
        scaled = max(0, min(2**32, round(pmax * 2**32)) - 1)
        value = wire.PORT_RED.pack(0, round(kmin), round(kmax), scaled)
        self.write("port_red", ifindex, value)

    def red(self, ifindex: int) -> tuple[int, int, float]:
        """The active thresholds: Kmin and Kmax in bytes, Pmax."""
        raw = self.read("port_red", ifindex)
        _, kmin, kmax, scaled = wire.PORT_RED.unpack(raw)
        return kmin, kmax, (scaled + 1) / 2**32 if scaled else 0.0


class KernelMaps(PortMaps):
    """The kernel's. ``fds``: descriptors of `MAPS`, by name."""

    def __init__(self, fds: Mapping[str, int], entries: int) -> None:
        self._fds = fds
        self.entries = entries
        self.counters = view(fds["port_counters"], wire.PORT_COUNTERS, entries)
        self.ingresses = view(fds["ingresses"], wire.INGRESS, entries)
        self.pauses = view(fds["pauses"], wire.PAUSE, entries)

    def write(self, name: str, ifindex: int, value: bytes) -> None:
        libbpf.update(self._fds[name], ifindex, value, FLAGS[name])

    def read(self, name: str, ifindex: int) -> bytes:
        return libbpf.lookup(self._fds[name], ifindex, SIZES[name], FLAGS[name])
