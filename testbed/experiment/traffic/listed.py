"""Flows that are listed one by one in the experiment file."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from testbed.base.arrays import Ints
from testbed.experiment.block import HostName, Moment, Part, refuse
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.pattern import Context, FlowSize, Keys, Pattern, endless
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Tasks, circle_of


class FlowSpec(Part):
    """One flow of an explicit list."""

    src: HostName = Field(description="Sending host, h1 to hN.")
    dst: HostName = Field(description="Receiving host, another one.")
    size: FlowSize = Field(default=None, description="User data; null is an endless flow.")
    start: Moment = Field(default=0.0, description="When it starts; with `after`: how long it computes before.")
    after: list[Annotated[int, Field(strict=True, ge=0)]] = Field(
        default=[],
        description="Flows of this list, by their places from 0, that must have been received before. `start` counts "
        "from then.",
    )
    label: str = Field(default="", description="Its name in the results.")

    @model_validator(mode="after")
    def _two_hosts(self) -> Self:
        if self.src == self.dst:
            refuse("dst", f"a flow needs two hosts, but src and dst are both '{self.src}'")
        return self


class FlowList(Pattern):
    """Flows that are listed one by one."""

    pattern: Literal["flows"] = Field(description="`flows`")
    flows: Annotated[list[FlowSpec], Field(min_length=1)] = Field(description="The flows.")

    def hosts_needed(self) -> int:
        """Up to the highest number."""
        return max(int(name[1:]) for flow in self.flows for name in (flow.src, flow.dst))

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        return len(self.flows)

    def plan(self, _context: Context) -> Plan:
        """The flows, in the order of the list."""
        flows = [Flow(f.src, f.dst, endless(f.size), f.start, f.label) for f in self.flows]
        return Plan.of(flows, Tasks(edges=self._edges))

    @property
    def _edges(self) -> Ints:
        return np.array([(one, n) for n, flow in enumerate(self.flows) for one in flow.after], np.int64).reshape(-1, 2)

    @model_validator(mode="after")
    def _can_all_start(self) -> Self:
        for n, flow in enumerate(self.flows):
            for one in flow.after:
                if one >= len(self.flows):
                    refuse(f"flows.{n}.after", f"there is no flow {one}; allowed: 0 to {len(self.flows) - 1}")
                if self.flows[one].size is None:
                    refuse(f"flows.{n}.after", f"flow {one} is endless, so it is never received")
        if circle := circle_of(len(self.flows), self._edges):
            refuse(f"flows.{circle[0]}.after", f"flows wait for each other: {' > '.join(map(str, circle))}")
        return self

    @property
    def blamed(self) -> Keys:
        """The list says it all."""
        return Keys("flows", "flows", "flows")
