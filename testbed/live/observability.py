"""What can be known of a run's switches and wires, and of the run as a whole: the seam between places to run.

In the rack everything is known (`RackFabric`); of real switches only what their hosts see
(`testbed.engines.lab.fabric`).
Columns of ports have shape (p,) in the order of the shape's; what cannot be known is nan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from testbed.agent.columns import Flows
from testbed.agent.meter import Meter
from testbed.base.arrays import Floats, Ints
from testbed.clock import Clock
from testbed.dataplane.wire import Framing
from testbed.engines.kernel.gather import input_queue_drops
from testbed.experiment.load import Resolved
from testbed.experiment.model import Experiment
from testbed.experiment.topology.paths import FlowPaths
from testbed.experiment.topology.shape import Shape
from testbed.experiment.traffic.plan import Plan
from testbed.live.snapshot import Counted, coarse_queue
from testbed.results.tuner_log import TunerNow

if TYPE_CHECKING:
    from testbed.engines.kernel.emulation import Emulation


class Fabric(Protocol):
    """The part between the hosts."""

    def sample(self, now_ns: int) -> dict[str, Floats]:
        """The columns of `testbed.results.record.PortSeries`."""
        ...

    def queue_counts(self) -> Ints:
        """Of the bottleneck, found by arriving packets; bins of the port program."""
        ...

    def queues_found(self) -> Counted:
        """The same of all ports, bins of `Snapshot.queue_found`."""
        ...

    def delivered(self) -> Ints:
        """Packets per flow, counted by the receivers' NICs."""
        ...

    def drops(self) -> int:
        """Packets that were dropped where the experiment has no queue."""
        ...

    def events(self) -> dict[str, int]:
        """What the experiment did not ask for."""
        ...

    def tuners(self) -> tuple[TunerNow, ...]:
        """One per switch that has one."""
        ...

    def described(self) -> dict[str, Any]:
        """More fields of the record."""
        ...


class Observed(Protocol):
    """A run, wherever it is, as those see it who record and show it."""

    resolved: Resolved
    experiment: Experiment
    clock: Clock
    plan: Plan
    shape: Shape
    paths: FlowPaths
    framing: Framing
    flows: Flows

    @property
    def fabric(self) -> Fabric:
        """The part between the hosts."""
        ...

    @property
    def meters(self) -> Sequence[Meter]:
        """One per agent."""
        ...

    @property
    def port_names(self) -> list[str]:
        """In the order of the port columns."""
        ...

    @property
    def bottleneck(self) -> int:
        """Position of the port that the summary looks at."""
        ...


class RackFabric:
    """The counters of the rack's port and NIC programs."""

    def __init__(self, run: Emulation) -> None:
        self.run = run

    def sample(self, now_ns: int) -> dict[str, Floats]:
        """As of now."""
        return self.run.ports.sample(now_ns)

    def queue_counts(self) -> Ints:
        """From the port program's histogram."""
        return np.asarray(self._bottleneck["histogram"], np.int64)

    def queues_found(self) -> Counted:
        """The same of all ports."""
        ports = self.run.programs.counters[self.run.ports.index]
        return Counted(coarse_queue(ports["histogram"]), ports["found"].astype(float))

    def delivered(self) -> Ints:
        """All receivers share one map."""
        return np.asarray(self.run.nic.flows_rx["packets"], np.int64)

    def drops(self) -> int:
        """By shapers, netem, and the input queues of this machine's cores."""
        return self.run.rack.shaper_drops() + input_queue_drops() - self.run.input_queue_drops

    def events(self) -> dict[str, int]:
        """Lost feedback, lost time, lost order; and what cables have lost, not buffers."""
        nic, ports = self.run.nic, self.run.programs.counters[self.run.ports.index]
        return {
            "lost_on_cables": int(ports["lost_packets"].sum()),
            "ring_overflow": int(nic.flows_tx["ring_full"].sum()),
            "stalled_bytes": int(self._bottleneck["stalled"]),
            "reordered_packets": int(nic.flows_rx["reorders"].sum()),
        }

    def tuners(self) -> tuple[TunerNow, ...]:
        """One per switch."""
        return tuple(one.log.now for one in self.run.tuning.all)

    def described(self) -> dict[str, Any]:
        """Lost time, and priority flow control."""
        run, count = self.run, self._bottleneck
        pause_late, pause_spare = run.lossless.late(run.clock) if run.lossless else (0.0, np.inf)
        return {
            "stalled_share": float(count["stalled"] / max(1, count["bytes"])),
            "lossless": run.lossless is not None,
            "pause_late": pause_late,
            "pause_spare": pause_spare,
        }

    @property
    def _bottleneck(self) -> np.void:
        counted: np.void = self.run.programs.counters[self.run.rack.ports[self.run.bottleneck].ifindex]
        return counted
