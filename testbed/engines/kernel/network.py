"""The counters of the rack's port and NIC programs, for recorder and live view."""

from __future__ import annotations

from typing import Any

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.base.linux import input_queue_drops
from testbed.engines.kernel.assembly import Assembly
from testbed.live.snapshot import Counted, coarse_queue
from testbed.results.tuner_log import TunerNow


class RackNetwork:
    """The counters of the rack's port and NIC programs."""

    def __init__(self, rack: Assembly) -> None:
        self.rack = rack
        self._input_queue_drops = input_queue_drops()

    def sample(self, now_ns: int) -> dict[str, Floats]:
        """The port columns at this moment."""
        return self.rack.ports.sample(now_ns)

    def queue_counts(self) -> Ints:
        """From the port program's histogram."""
        return np.asarray(self._bottleneck["histogram"], np.int64)

    def queues_found(self) -> Counted:
        """The same of all ports."""
        ports = self.rack.programs.counters[self.rack.ports.index]
        return Counted(coarse_queue(ports["histogram"]), ports["found"].astype(float))

    def delivered(self) -> Ints:
        """All receivers share one map."""
        return np.asarray(self.rack.nic.flows_rx["packets"], np.int64)

    def drops(self) -> int:
        """By shapers, netem, and the input queues of this machine's cores."""
        return self.rack.net.shaper_drops() + input_queue_drops() - self._input_queue_drops

    def events(self) -> dict[str, int]:
        """Feedback lost to a full ring, shaper stalls, reordering; and losses on links, not in buffers."""
        nic, ports = self.rack.nic, self.rack.programs.counters[self.rack.ports.index]
        return {
            "lost_on_links": int(ports["lost_packets"].sum()),
            "ring_overflow": int(nic.flows_tx["ring_full"].sum()),
            "stalled_bytes": int(self._bottleneck["stalled"]),
            "reordered_packets": int(nic.flows_rx["reorders"].sum()),
        }

    def tuners(self) -> tuple[TunerNow, ...]:
        """One per switch."""
        return tuple(one.log.now for one in self.rack.tuning.all)

    def described(self) -> dict[str, Any]:
        """Shaper stalls, and priority flow control."""
        rack, count = self.rack, self._bottleneck
        pause_late, pause_spare = rack.lossless.late(rack.clock) if rack.lossless else (0.0, np.inf)
        return {
            "stalled_share": float(count["stalled"] / max(1, count["bytes"])),
            "lossless": rack.lossless is not None,
            "pause_late": pause_late,
            "pause_spare": pause_spare,
        }

    @property
    def _bottleneck(self) -> np.void:
        counted: np.void = self.rack.programs.counters[self.rack.net.ports[self.rack.layout.bottleneck].ifindex]
        return counted
