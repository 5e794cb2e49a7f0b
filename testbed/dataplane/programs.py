"""The loaded data plane of one rack: NIC programs with their flows and rings, port programs with their ports.

Counters are numpy views of the kernel's memory: reading them costs no system call. Values in here are wall-clock
values, as the kernel needs them; `testbed.clock` converts.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from testbed.dataplane import libbpf, wire
from testbed.dataplane.build import compiled

RING_NO_WAKEUP = 1
PROBE_FLOWS = 8  # for calibration, numbered after those of the experiment
RING_SIZE = 1 << 22  # 20,000 records; an agent reads thousands of times per second


def _view(fd: int, dtype: np.dtype, entries: int) -> NDArray[np.void]:
    size = -(-dtype.itemsize * entries // mmap.PAGESIZE) * mmap.PAGESIZE
    return np.frombuffer(mmap.mmap(fd, size, mmap.MAP_SHARED), dtype, entries)


class Thresholds(NamedTuple):
    """Of priority flow control: bytes per ingress port; ``xoff`` is 0 without it."""

    xoff: int = 0
    xon: int = 0
    limit: int = 0  # what would exceed it is dropped


NO_PFC = Thresholds()


class NicPrograms:
    """``nic_tx`` and ``nic_rx``, shared by all hosts of a rack. Flows are numbered 0 .. flows - 1 in the whole rack.

    ``arrivals`` is indexed by ifindex, which no two interfaces of the rack may share.
    """

    def __init__(
        self,
        largest_ifindex: int,
        flows: int,
        rings: int,
        cnp_interval_ns: int,
        *,
        wake_agents: bool,
        ring_size: int = RING_SIZE,
        pfc: Thresholds = NO_PFC,
    ) -> None:
        self._object = libbpf.Object(compiled("nic"))
        self._object.size_map("arrivals", largest_ifindex + 1)
        everyone = flows + PROBE_FLOWS
        self._object.size_map("flows_tx", everyone)
        self._object.size_map("flows_rx", everyone)
        self._object.size_map("rings", rings + 1)
        for name in ("ingresses", "pauses"):
            self._object.size_map(name, largest_ifindex + 1)
        self.pfc = pfc
        wakeup = 0 if wake_agents else RING_NO_WAKEUP
        self._object.set_constants(wire.NIC_SETTINGS.pack(cnp_interval_ns, wakeup, pfc.xoff > 0, pfc.xon))
        self._object.load()
        self.tx_fd = self._object.program_fd("nic_tx")
        self.rx_fd = self._object.program_fd("nic_rx")
        self.largest_ifindex = largest_ifindex
        self.arrivals_fd = self._object.map_fd("arrivals")
        self.arrivals = _view(self.arrivals_fd, wire.ARRIVALS, largest_ifindex + 1)
        self.pause_events_fd = self._object.map_fd("pause_events")
        self.ingresses = _view(self._object.map_fd("ingresses"), wire.INGRESS, largest_ifindex + 1)
        self.pauses = _view(self._object.map_fd("pauses"), wire.PAUSE, largest_ifindex + 1)
        flows_tx = _view(self._object.map_fd("flows_tx"), wire.FLOW_TX, everyone)
        flows_tx["ring"][flows:] = rings
        self.flows_tx = flows_tx[:flows]
        self.flows_rx = _view(self._object.map_fd("flows_rx"), wire.FLOW_RX, everyone)[:flows]
        self.ring_size = ring_size
        fds = [libbpf.create_ring(f"ring{number}", ring_size) for number in range(rings)]
        fds.append(libbpf.create_ring("probe", RING_SIZE))
        for number, fd in enumerate(fds):
            libbpf.update(self._object.map_fd("rings"), number, struct.pack("=I", fd))
        *self.ring_fds, self.probe_ring_fd = fds

    def _table(self, name: str, dtype: np.dtype[np.void], entries: int) -> NDArray[np.void]:
        return _view(self._object.map_fd(name), dtype, entries)

    def share_pauses(self, other: libbpf.Object) -> None:
        """Let another object's programs use the maps of priority flow control; before it is loaded."""
        for name in ("ingresses", "pauses", "pause_events"):
            other.share_map(name, self._object.map_fd(name))


@dataclass(frozen=True)
class Port:
    """One switch port as the kernel sees it: wall-clock rate."""

    ifindex: int
    node: int  # switch number << 16 | port number
    rate: float  # bit/s of wall time
    buffer: int  # bytes
    slack: int  # bytes by which the shaper may rightly differ from the virtual queue
    loss: float = 0.0  # probability of a random drop
    peer: int = 0  # ifindex at the far end of the cable; 0: the shaper is not compared with the virtual queue


class PortPrograms:
    """``port_egress`` and ``port_ingress`` for the ports of all switches. Arrays are indexed by ifindex."""

    def __init__(self, nic: NicPrograms) -> None:
        self._object = libbpf.Object(compiled("port"))
        self._object.share_map("arrivals", nic.arrivals_fd)
        self.arrivals = nic.arrivals
        nic.share_pauses(self._object)
        self._object.set_constants(wire.PORT_SETTINGS.pack(*nic.pfc, 0))
        self.ingresses, self.pauses = nic.ingresses, nic.pauses
        entries = nic.largest_ifindex + 1
        for name in ("port_config", "port_counters", "port_red", "port_queue"):
            self._object.size_map(name, entries)
        self._object.load()
        self.fd = self._object.program_fd("port_egress")
        self.ingress_fd = self._object.program_fd("port_ingress")
        self.counters = _view(self._object.map_fd("port_counters"), wire.PORT_COUNTERS, entries)

    def configure(self, port: Port, seed: int) -> None:
        """Switch a port on: from now on its queue drains at ``port.rate``."""
        random = (seed * 2654435761 + port.ifindex * 40503) % (2**32 - 1) + 1  # xorshift must not start at 0
        libbpf.update(self._object.map_fd("port_queue"), port.ifindex, wire.PORT_QUEUE.pack(0, random, 0, 0, 0))
        self.set_loss(port, port.loss)

    def set_loss(self, port: Port, loss: float) -> None:
        """Lose packets of a running port with this probability; 1 also loses what is on its cable already."""
        bytes_per_second = port.rate / 8
        drain = round(bytes_per_second / 1e9 * (1 << wire.RATE_SHIFT))
        config = wire.PORT_CONFIG.pack(
            drain,
            round(bytes_per_second),
            2**63 // drain,
            port.buffer,
            port.node,
            round(port.rate / 1e3),
            max(0, round(loss * 2**32) - 1),
            port.slack,
            port.peer,
        )
        libbpf.update(self._object.map_fd("port_config"), port.ifindex, config)

    def forget(self, port: Port, seed: int) -> None:
        """Set a port's counters back to 0 and its queue to empty: nothing may be on its way."""
        self.counters[port.ifindex] = 0
        self.arrivals[port.peer] = 0
        self.configure(port, seed)

    def set_red(self, ifindex: int, kmin: float, kmax: float, pmax: float) -> None:
        """Set all three thresholds at once (bytes, bytes, probability); no packet sees a mixture."""
        scaled = max(0, min(2**32, round(pmax * 2**32)) - 1)
        value = wire.PORT_RED.pack(0, round(kmin), round(kmax), scaled)
        libbpf.update(self._object.map_fd("port_red"), ifindex, value, libbpf.BPF_F_LOCK)

    def red(self, ifindex: int) -> tuple[int, int, float]:
        """The thresholds in force: Kmin and Kmax in bytes, Pmax."""
        raw = libbpf.lookup(self._object.map_fd("port_red"), ifindex, wire.PORT_RED.size, libbpf.BPF_F_LOCK)
        _, kmin, kmax, scaled = wire.PORT_RED.unpack(raw)
        return kmin, kmax, (scaled + 1) / 2**32 if scaled else 0.0
