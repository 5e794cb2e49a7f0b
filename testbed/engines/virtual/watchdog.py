"""The PFC watchdog of all ports, which watchdog.h carries out: its settings, and what it did."""

from __future__ import annotations

import ctypes

import numpy as np

from testbed.clock import Clock
from testbed.dataplane.wire import QUEUES
from testbed.engines.virtual.structs import MOST_STORMS, WATCHED, CWatchdog
from testbed.experiment.events import Event
from testbed.experiment.topology.groups import Watchdog
from testbed.live.packet_network import storms_of


class VirtualWatchdog:
    """Of a world with so many lines."""

    def __init__(self, settings: Watchdog, lines: int, clock: Clock) -> None:
        self.settings, self._clock = settings, clock
        self._queues = np.zeros(lines * QUEUES, WATCHED)
        self._done = np.zeros((3, MOST_STORMS), np.int64)  # when, row of the queue, whether it began
        times = (settings.detection, settings.restoration or settings.detection)
        ticks = [clock.wall_ns(time) for time in times]
        addresses = (self._queues.ctypes.data, *(column.ctypes.data for column in self._done))
        self.c = CWatchdog(*ticks, settings.action == "forward", *addresses, 0)
        self.address = ctypes.addressof(self.c)

    @property
    def defied(self) -> bool:
        """Whether anything was sent in spite of a pause."""
        return bool(self.c.forwards and self.c.length)

    def events(self, names: dict[int, str]) -> list[Event]:
        """What it did, by the ``names`` of rows of queues: `s1-eth3 q3`."""
        return storms_of(self.settings, self._done[:, : self.c.length].T, names, self._clock)
