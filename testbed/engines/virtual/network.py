"""The counters of a world's programs, for recorder and live view (`testbed.live.observed.Network`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.engines.virtual.world import World
from testbed.live.packet_network import PacketNetwork, groups_of, queues_of
from testbed.results.record import EngineName, Groups
from testbed.results.tuner_log import TunerNow
from testbed.tuning.loop import Tunings


class VirtualNetwork(PacketNetwork):
    """Nothing is lost here but what the model loses."""

    def __init__(
        self, world: World, tuning: Tunings, engine: EngineName = "virtual", outside: Callable[[], int] = lambda: 0
    ) -> None:
        """``outside``: packets that were dropped before the world or behind it."""
        maps = world.maps
        super().__init__(
            world.ports, world.queues, maps.flows_tx, maps.flows_rx, int(world.ports.index[world.layout.bottleneck])
        )
        self.world, self.tuning, self.engine, self._outside = world, tuning, engine, outside

    def drops(self) -> int:
        """Packets for which a switch had no next hop, and what apps' links dropped."""
        return int(self.world.c.unroutable) + self._outside()

    def shaped(self) -> Floats:
        """Nothing is late here."""
        return np.full(2, np.nan)

    def tuners(self) -> tuple[TunerNow, ...]:
        return tuple(one.log.now for one in self.tuning.all)

    def described(self) -> dict[str, Any]:
        """What the record says of the engine and of priority flow control."""
        lossless = bool(self.world.c.lossless)
        queues = queues_of(self.world.layout, self.world.queues)
        return {
            "engine": self.engine, "lossless": lossless, "pause_late": 0.0, "pause_spare": np.inf, "queues": queues,
            "groups": self._groups(),
        }  # fmt: skip

    def _groups(self) -> Groups | None:
        world, rows = self.world, self.world.maps.pool_rows
        if rows is None:
            return None
        width, now = world.wires.interfaces, int(world.c.now)
        return groups_of(world.layout, world.ports, rows.groups, interfaces=width, now_ns=now, clock=world.clock)
