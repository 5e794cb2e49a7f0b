"""The maps of switch ports, which tuners and recorders read and write: a rack's, or those that a switch has pinned.

Values in here are wall-clock values, as the programs need them.
"""

from __future__ import annotations

import mmap
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from testbed.base.arrays import Floats, Ints
from testbed.clock import WallRate
from testbed.dataplane import libbpf, wire
from testbed.dataplane.flow_table import Table

OWN_MAPS = ("port_config", "port_counters", "port_red", "port_queue")
ELEMENTS = {"port_config": wire.PORT_CONFIG, "port_red": wire.PORT_RED, "port_queue": wire.PORT_QUEUE}
FLAGS = {"port_config": libbpf.BPF_ANY, "port_red": libbpf.BPF_F_LOCK, "port_queue": libbpf.BPF_ANY}
MAPS = (*OWN_MAPS, "ingresses", "pauses")  # those of priority flow control may be shared with the NICs


def view(fd: int, dtype: np.dtype, entries: int) -> NDArray[np.void]:
    """A map's elements in the kernel's memory."""
    size = -(-dtype.itemsize * entries // mmap.PAGESIZE) * mmap.PAGESIZE
    return np.frombuffer(mmap.mmap(fd, size, mmap.MAP_SHARED), dtype, entries)


class Port(NamedTuple):
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
    def write(self, name: str, index: Ints, rows: NDArray[np.void]) -> None:
        """Set elements of the map of this name."""

    @abstractmethod
    def read(self, name: str, index: Ints) -> NDArray[np.void]:
        """Get elements of the map of this name."""

    def configure(self, ports: Sequence[Port], seed: int) -> None:
        """Switch ports on: from now on their queues drain at their rates."""
        queues, index = np.zeros(len(ports), wire.PORT_QUEUE), _index(ports)
        most = 2**32 - 1
        queues["random"] = (seed * 2654435761 % most + index * 40503) % most + 1  # xorshift must not start at 0
        self.write("port_queue", index, queues)
        self._set(ports, [port.buffer for port in ports], [_scaled(port.loss) for port in ports])

    def set_host_loss(self, interface: int, loss: float) -> None:
        """Lose packets that a host sends with this probability; ``interface``: where `nic_tx` sees them."""
        self.arrivals["loss"][interface] = loss and max(1, round(loss * (1 << 32)) - 1)

    def set_loss(self, port: Port, loss: float) -> None:
        """Lose packets of a running port with this probability; 1 also loses what is on its link already."""
        self._set([port], [port.buffer], [_scaled(loss)])

    def set_rate(self, port: Port) -> None:
        """Let a running port drain at ``port.rate``, and nothing else change."""
        config = self.read("port_config", _index([port]))
        self._set([port], config["buffer"], config["loss"])

    def _set(self, ports: Sequence[Port], buffer: ArrayLike, loss: ArrayLike) -> None:
        configs, rate = np.zeros(len(ports), wire.PORT_CONFIG), np.array([port.rate for port in ports])
        configs["drain"] = np.rint(rate / 8 / 1e9 * (1 << wire.RATE_SHIFT))
        configs["rate_Bps"], configs["rate_kbps"] = np.rint(rate / 8), np.rint(rate / 1e3)
        configs["longest_ns"] = np.uint64(2**63) // configs["drain"]
        configs["buffer"], configs["loss"] = buffer, loss
        for name in ("node", "slack", "peer"):
            configs[name] = [getattr(port, name) for port in ports]
        self.write("port_config", _index(ports), configs)

    def rate_and_buffer(self, ifindex: int) -> tuple[WallRate, int]:
        """Rate and buffer of a port that was switched on: bit/s and bytes."""
        (config,) = self.read("port_config", np.array([ifindex]))
        return WallRate(config["rate_Bps"] * 8.0), int(config["buffer"])

    def set_red(self, index: Ints | int, kmin: Floats | float, kmax: Floats | float, pmax: Floats | float) -> None:
        """Set all three thresholds of ports at once (bytes, bytes, probability); no packet sees a mixture."""
        rows = np.zeros(np.size(index), wire.PORT_RED)
        rows["kmin"], rows["kmax"] = np.rint(kmin), np.rint(kmax)
        rows["pmax"] = np.clip(np.rint(np.multiply(pmax, 2**32)), 1, 2**32) - 1
        self.write("port_red", np.atleast_1d(index), rows)

    def red(self, index: Ints) -> Floats:
        """The active thresholds, shape (3, n): Kmin and Kmax in bytes, Pmax."""
        rows = self.read("port_red", index)
        scaled = rows["pmax"].astype(float)
        return np.array([rows["kmin"], rows["kmax"], np.where(scaled, scaled + 1, 0.0) / 2**32])


def _index(ports: Sequence[Port]) -> Ints:
    return np.array([port.ifindex for port in ports], np.int64)


def _scaled(loss: float) -> int:
    return max(0, round(loss * 2**32) - 1)


class KernelMaps(PortMaps):
    """The kernel's. ``fds``: descriptors of `MAPS`, by name."""

    def __init__(self, fds: Mapping[str, int], entries: int) -> None:
        self._fds = fds
        self.entries = entries
        self.counters = view(fds["port_counters"], wire.PORT_COUNTERS, entries)
        self.ingresses = view(fds["ingresses"], wire.INGRESS, entries)
        self.pauses = view(fds["pauses"], wire.PAUSE, entries)

    def write(self, name: str, index: Ints, rows: NDArray[np.void]) -> None:
        for one, row in zip(index.tolist(), rows, strict=True):
            libbpf.update(self._fds[name], one, row.tobytes(), FLAGS[name])

    def read(self, name: str, index: Ints) -> NDArray[np.void]:
        fd, kind, flags = self._fds[name], ELEMENTS[name], FLAGS[name]
        found = b"".join(libbpf.lookup(fd, one, kind.itemsize, flags) for one in index.tolist())
        return np.frombuffer(found, kind)
