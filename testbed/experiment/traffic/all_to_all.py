"""All to all."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from testbed.experiment.block import Count, Moment
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.pattern import Context, FlowSize, Keys, Listed, endless

Hosts = Annotated[int, Field(strict=True, ge=2)]


def rounds(hosts: int) -> list[tuple[int, int]]:
    """All ordered pairs of 0 .. hosts - 1. In each round every host sends once and receives once."""
    return [(i, (i + shift) % hosts) for shift in range(1, hosts) for i in range(hosts)]


class AllToAll(Listed):
    """Each of N hosts sends to each other one: N congestion points."""

    pattern: Literal["all-to-all"] = Field(description="`all-to-all`")
    hosts: Hosts = Field(description="Hosts h1 to hN.")
    flows_per_pair: Count = Field(default=1, description="Flows from each host to each other one.")
    size: FlowSize = Field(default=None, description="User data per flow; null is an endless flow.")
    start: Moment = Field(default=0.0, description="When the first flow starts.")
    stagger: Moment = Field(default=0.0, description="Flow i starts i times this later, and hosts take turns.")

    def hosts_needed(self) -> int:
        """All of them."""
        return self.hosts

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        return self.hosts * (self.hosts - 1) * self.flows_per_pair

    def expand(self, _context: Context) -> list[Flow]:
        """Round after round."""
        pairs = rounds(self.hosts) * self.flows_per_pair
        return [
            Flow(f"h{src + 1}", f"h{dst + 1}", endless(self.size), self.start + i * self.stagger)
            for i, (src, dst) in enumerate(pairs)
        ]

    @property
    def blamed(self) -> Keys:
        """By which there may be too many, or too late."""
        flows = "flows_per_pair" if self.flows_per_pair > 1 else "hosts"
        return Keys("hosts", flows, "stagger" if self.stagger else "start")
