"""The counters of the rack's port and NIC programs, for recorder and live view."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.base.linux import input_queue_drops
from testbed.engines.kernel.assembly import Assembly
from testbed.live.packet_network import PacketNetwork, groups_of, queues_of
from testbed.results.record import Groups
from testbed.results.tuner_log import TunerNow


class RackNetwork(PacketNetwork):
    """Of a rack that has been built."""

    def __init__(self, rack: Assembly) -> None:
        bottleneck = rack.net.ports[rack.layout.bottleneck].ifindex
        super().__init__(rack.ports, rack.queues, rack.nic.flows_tx, rack.nic.flows_rx, bottleneck)
        self.rack = rack
        self._input_queue_drops = input_queue_drops()

    def drops(self) -> int:
        """By shapers, netem, and the input queues of this machine's cores."""
        return self.rack.net.shaper_drops() + input_queue_drops() - self._input_queue_drops

    def shaped(self) -> Floats:
        """By the bottleneck's token bucket."""
        return np.array([self.bottleneck["bytes"], self.bottleneck["stalled"]], float)

    def tuners(self) -> tuple[TunerNow, ...]:
        """One per switch."""
        return tuple(one.log.now for one in self.rack.tuning.all)

    def described(self) -> dict[str, Any]:
        """Priority flow control."""
        rack = self.rack
        pause_late, pause_spare = rack.lossless.late(rack.clock) if rack.lossless else (0.0, np.inf)
        return {
            "lossless": rack.lossless is not None,
            "pause_late": pause_late,
            "pause_spare": pause_spare,
            "queues": queues_of(rack.layout, rack.queues),
            "groups": self._groups(),
        }

    def _groups(self) -> Groups | None:
        rack, nic = self.rack, self.rack.nic
        if not nic.memory:
            return None
        width, now = nic.largest_ifindex + 1, time.monotonic_ns()
        return groups_of(rack.layout, rack.ports, nic.groups, interfaces=width, now_ns=now, clock=rack.clock)
