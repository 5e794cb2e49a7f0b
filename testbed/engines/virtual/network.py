"""The counters of a world's programs, for recorder and live view (`testbed.live.observed.Network`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.engines.virtual.world import World
from testbed.experiment.topology.pool import Memory
from testbed.live.packet_network import PacketNetwork, queues_of
from testbed.results.record import Groups
from testbed.results.tuner_log import TunerNow
from testbed.tuning.loop import Tunings


class VirtualNetwork(PacketNetwork):
    """Nothing is lost here but what the model loses."""

    def __init__(self, world: World, tuning: Tunings) -> None:
        maps = world.maps
        super().__init__(world.ports, maps.flows_tx, maps.flows_rx, int(world.ports.index[world.layout.bottleneck]))
        self.world, self.tuning = world, tuning

    def drops(self) -> int:
        """Packets for which a switch had no next hop."""
        return int(self.world.c.unroutable)

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
            "engine": "virtual", "lossless": lossless, "pause_late": 0.0, "pause_spare": np.inf, "queues": queues,
            "groups": self._groups(self.world.pool) if self.world.pool else None,
        }  # fmt: skip

    def _groups(self, pool: Memory) -> Groups:
        world, numbers = self.world, list(pool.groups)
        rows, names = world.group_rows(numbers), world.layout.port_names
        assert world.maps.pool_rows is not None
        groups, ingresses = world.maps.pool_rows.groups[rows], world.maps.ingresses[rows]
        waiting = np.where(ingresses["paused"] > 0, world.c.now - ingresses["paused_at"].astype(np.int64), 0)
        return Groups(
            name=[f"{port} g{number}" for port in names for number in numbers],
            port=np.repeat(np.arange(len(names)), len(numbers)),
            number=np.tile(np.array(numbers), len(names)),
            lossless=np.tile([one.lossless for one in pool.groups.values()], len(names)),
            peak=groups["peak"].astype(np.int64),
            peak_headroom=groups["peak_above"].astype(np.int64),
            dropped_packets=groups["dropped_packets"].astype(np.int64),
            pauses=ingresses["pauses"].astype(np.int64),
            paused=np.float64(world.clock.seconds_per_ns) * (ingresses["paused_ns"].astype(np.int64) + waiting),
        )
