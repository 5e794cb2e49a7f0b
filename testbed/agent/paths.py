"""Flows whose packets take several paths (paths.h): what is in flight, the ports that INT told of, and who chooses."""

from __future__ import annotations

import numpy as np

from testbed.agent.memory import Memory
from testbed.agent.structs import CPaths
from testbed.base.arrays import Floats
from testbed.compiled.choosers import Choosers
from testbed.registry import Blaming, Plugin

FLIGHT = np.dtype([("ways", "<u8"), ("room", "<i8"), ("newest", "<i8"), ("longest", "<f8"), ("last", "<i8", (256,))])
KNOWN_PORT, KNOWN_PORTS = np.dtype([("node", "<i8"), ("ts", "<f8"), ("tx", "<f8")]), 4096


class PathState:
    """Of flows whose paths ``choosers`` choose, or the switches."""

    def __init__(self, timeout: float, base_rtt: Floats, choosers: Choosers | None, plugin: Plugin | None) -> None:
        """A packet that has not come back for ``timeout`` seconds, or four times the flow's longest RTT, is lost.

        ``plugin`` is that of the choosers, for messages.
        """
        self.choosers, self._plugin, self._timeout = choosers, plugin, timeout
        self._flights = np.zeros(len(base_rtt), FLIGHT)
        self._flights["newest"] = self._flights["last"] = -1
        self._flights["longest"] = base_rtt
        self._known = np.zeros(KNOWN_PORTS, KNOWN_PORT)
        self._known["node"] = -1

    def describe(self, c: CPaths, memory: Memory) -> None:
        """For C, which must be compiled for it."""
        c.flights, c.known, c.timeout = memory.keep(self._flights), memory.keep(self._known), self._timeout
        if self.choosers:
            c.chooser = self.choosers.address

    def fail(self) -> None:
        """A chooser has failed. Raises PluginFailed."""
        assert self.choosers
        assert self._plugin
        with Blaming(self._plugin):
            self.choosers.fail()
