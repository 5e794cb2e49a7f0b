"""What a live view needs before the first figure: the rack, its ports and flows, and when the run ends.

Up to `MOST_FLOWS` flows have figures of their own; of more, figures are per sending host.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.clock import Clock
from testbed.experiment.traffic.plan import Plan
from testbed.live.controllers import ByController
from testbed.results.record import SIMULATED, EngineName
from testbed.results.report.topology import Link, draw
from testbed.results.tables import flow_names

Column = TypeVar("Column", Floats, Ints)

MOST_FLOWS = 256
ALL = "*"  # as the flow and receiver of a sending host's sum


class ScenePort(NamedTuple):
    """One switch port and what its link leads to."""

    name: str
    switch: str
    to: str
    rate: float  # bit/s
    buffer: float  # bytes


class SceneQueue(NamedTuple):
    """One of several queues of a port."""

    port: str
    queue: str  # its number
    classes: str


class SceneFlow(NamedTuple):
    """One flow, or all flows of one sending host."""

    name: str
    src: str
    dst: str


class SceneJob(NamedTuple):
    """One job, and how often it does what it does."""

    name: str
    iterations: int


class Groups:
    """Columns per flow to columns per `SceneFlow`. A run's flows are ordered by sending host."""

    def __init__(self, plan: Plan, deciding: Sequence[str]) -> None:
        """``deciding``: the name of each flow's controller."""
        self.controllers = ByController(deciding)
        self.by: Literal["flow", "host"] = "flow" if len(plan) <= MOST_FLOWS else "host"
        if self.by == "flow":
            self._first = np.arange(len(plan))
            named = zip(flow_names(plan), plan.src, plan.dst, strict=True)
            self.flows = tuple(SceneFlow(*one) for one in named)
        else:
            hosts, self._first = np.unique(plan.src_number, return_index=True)
            self.flows = tuple(SceneFlow(f"h{host}", f"h{host}", ALL) for host in hosts)

    def sum(self, column: Column) -> Column:
        """Of columns with one row per flow, shape (n,) or (n, k)."""
        return column.copy() if self.by == "flow" else np.add.reduceat(column, self._first, axis=0)

    def mean(self, column: Floats) -> Floats:
        """Of the known values; nan where there is none."""
        known = np.isfinite(column)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.sum(np.where(known, column, 0.0)) / self.sum(known.astype(np.int64)))


@dataclass(frozen=True)
class Scene:
    """One run, before it begins. Nominal SI units."""

    experiment: str
    controller: str
    tuner: str
    seed: int
    duration: float
    warmup: float
    dilation: float | None  # None: it does not happen in wall time
    base_rtt: float  # of the median flow, as the result's
    bottleneck: int  # position of the port
    ports: tuple[ScenePort, ...]
    flows_by: Literal["flow", "host"]
    flows: tuple[SceneFlow, ...]
    controllers: tuple[str, ...]  # their names, as figures per controller have them
    queues: tuple[SceneQueue, ...] = ()  # of all ports, where these have several
    jobs: tuple[SceneJob, ...] = ()
    ranks: tuple[str, ...] = ()  # rows of the jobs' timeline; none if there are too many
    sends: str = ""  # who sends to whom, as an SVG element
    engine: EngineName = "kernel"
    run: str = ""  # name of the results folder; known outside only

    @property
    def wall_seconds(self) -> float | None:
        """How long the run will take, if that is known."""
        return None if self.dilation is None else Clock(self.dilation).wall_seconds(self.duration)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        found = asdict(self)
        found["ports"] = [port._asdict() for port in self.ports]
        found["queues"] = [queue._asdict() for queue in self.queues]
        found["flows"] = [flow._asdict() for flow in self.flows]
        found["jobs"] = [job._asdict() for job in self.jobs]
        bottleneck = self.ports[self.bottleneck].name
        how = SIMULATED.get(self.engine, f"dilation {self.dilation or math.nan:g}")
        return found | {"bottleneck": bottleneck, "how": how, "topology": drawn(self.ports, bottleneck)}


def drawn(ports: Sequence[ScenePort], bottleneck: str) -> str:
    """The rack as an SVG element in which nothing flows yet: the page colours it."""
    return draw([Link(port.name, port.switch, port.to, math.nan, 0.0) for port in ports], bottleneck)
