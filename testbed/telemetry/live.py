"""The figures that a user sees while a run goes on: utilisation, queue, RTT. Sent out a few times a second."""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing.connection import Connection

import numpy as np

from testbed.agent.columns import Flows
from testbed.telemetry.recorder import PortReader

WALL_NS_BETWEEN = 250_000_000


@dataclass(frozen=True)
class Figures:
    """One update. Nominal seconds; utilisation is a ratio of the bottleneck's rate since the last update."""

    now: float
    utilisation: float
    queue: float  # s that a packet arriving now would wait
    rtt: float  # s, median of the flows' newest samples; nan before the first


class Live:
    """Sends `Figures` through the connection, and hears there whether the user wants to stop."""

    def __init__(self, connection: Connection, ports: PortReader, bottleneck: int, flows: Flows) -> None:
        self.connection = connection
        self.ports = ports
        self.bottleneck = bottleneck
        self.flows = flows
        self._last = (0, 0.0)  # wall ns, bytes sent by the bottleneck

    def show(self, now: float, now_ns: int) -> None:
        """Send an update if it is time for one."""
        last_ns, last_bytes = self._last
        if now_ns - last_ns < WALL_NS_BETWEEN:
            return
        sample = self.ports.sample(now_ns)
        rate = self.ports.rate[self.bottleneck] / 8  # wall bytes/s
        sent, queue = sample["tx_bytes"][self.bottleneck], sample["queue"][self.bottleneck]
        utilisation = (sent - last_bytes) / (rate * (now_ns - last_ns) / 1e9) if last_ns else 0.0
        self._last = (now_ns, sent)
        known = self.flows.rtt[np.isfinite(self.flows.rtt)]
        rtt = float(np.median(known)) if len(known) else float("nan")
        wait = self.ports.clock.nominal_seconds(float(queue / rate))
        self.connection.send(("live", Figures(now, float(utilisation), wait, rtt)))

    def interrupted(self) -> str:
        """Why the user ended the run; empty if it should go on. Raises EOFError if nobody listens any more."""
        return str(self.connection.recv()) if self.connection.poll() else ""
