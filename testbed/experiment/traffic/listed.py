"""Flows that are listed one by one in the experiment file."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from testbed.experiment.block import HostName, Moment, Part, refuse
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.pattern import Context, FlowSize, Pattern, endless


class FlowSpec(Part):
    """One flow of an explicit list."""

    src: HostName = Field(description="Sending host, h1 to hN.")
    dst: HostName = Field(description="Receiving host, another one.")
    size: FlowSize = Field(default=None, description="User data; null is an endless flow.")
    start: Moment = Field(default=0.0, description="When it starts.")
    label: str = Field(default="", description="Its name in the results.")

    @model_validator(mode="after")
    def _two_hosts(self) -> Self:
        if self.src == self.dst:
            refuse("dst", f"a flow needs two hosts, but src and dst are both '{self.src}'")
        return self


class FlowList(Pattern):
    """Flows that are listed one by one."""

    pattern: Literal["flows"] = Field(description="`flows`")
    flows: Annotated[list[FlowSpec], Field(min_length=1)] = Field(description="The flows, each with these keys:")

    def hosts_needed(self) -> int:
        """Up to the highest number."""
        return max(int(name[1:]) for flow in self.flows for name in (flow.src, flow.dst))

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        return len(self.flows)

    def expand(self, _context: Context) -> list[Flow]:
        """The flows, in the order of the list."""
        return [Flow(f.src, f.dst, endless(f.size), f.start, f.label) for f in self.flows]

    @property
    def hosts_key(self) -> str:
        """The key that asks for hosts."""
        return "flows"

    flows_key = start_key = hosts_key
