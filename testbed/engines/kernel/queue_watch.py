"""Compares the virtual queue of a port, which marks, with the backlog of its shaper, which delays, during the run."""

from __future__ import annotations

import time

import numpy as np

from testbed.dataplane.port_maps import Port
from testbed.dataplane.port_reader import PortReader
from testbed.engines.kernel.rack.backlog import QueueReader

RECENT_NS = 1_000_000  # wall; the program corrects its queue when a packet arrives, which none does during a pause
ATTEMPTS = 5  # to find a moment without a packet
AGREEING = 0.99  # share of the samples that must agree: a late timer may fall between two packets


class QueueWatch:
    """Samples of one port. A sample counts only if no packet arrived while it was taken, but one shortly before."""

    def __init__(self, reader: QueueReader, ports: PortReader, position: int, port: Port) -> None:
        self.reader = reader
        self.ports = ports
        self.position = position
        self.port = port
        self.tolerance = 2.0 * port.slack
        self._samples: list[tuple[float, float]] = []  # time and difference

    def sample(self, now: float) -> None:
        """Compare once, if a moment without a packet is found."""
        for _ in range(ATTEMPTS):
            if self._compare(now):
                return

    def _compare(self, now: float) -> bool:
        """Take a sample; False if a packet arrived meanwhile."""
        packets = self.ports.programs.counters["packets"]
        before = packets[self.port.ifindex]
        began = time.monotonic_ns()
        backlog = self.reader.read(self.port.ifindex).backlog
        middle = (began + time.monotonic_ns()) // 2
        queue = self.ports.sample(middle)["queue"][self.position]
        recent = middle - int(self.ports.programs.counters["last_ns"][self.port.ifindex]) < RECENT_NS
        quiet = bool(packets[self.port.ifindex] == before)
        if recent and quiet:
            self._samples.append((now, abs(backlog - queue)))
        return quiet

    def difference(self, since: float = 0.0) -> float:
        """Bytes, from this nominal time on; a few samples may be worse."""
        differences = [difference for time, difference in self._samples if time >= since]
        return float(np.quantile(differences, AGREEING)) if differences else 0.0
