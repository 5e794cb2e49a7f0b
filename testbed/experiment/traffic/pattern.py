"""What every traffic pattern provides: who takes part, how many flows there are, and which ones."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from pydantic import Field

from testbed.base.inputs import Input
from testbed.experiment.block import Part, refuse
from testbed.experiment.topology.dscp import Dscp
from testbed.experiment.topology.ecn import Ecn
from testbed.experiment.topology.servers import Servers
from testbed.experiment.traffic.flow import Flow, Payload
from testbed.experiment.traffic.plan import Plan
from testbed.units import Size


class Keys(NamedTuple):
    """Which keys of a pattern to blame, relative to its block."""

    hosts: str = "hosts"  # asks for hosts
    flows: str = "hosts"  # makes flows
    start: str = "start"  # makes flows start late


@dataclass(frozen=True)
class Context:
    """What a pattern is expanded for. Nominal SI units."""

    hosts: int  # of the rack, named h1, h2, ...
    line_rate: float  # bit/s of every host
    end: float  # s: flows start before that
    seed: tuple[int, ...]
    edges: tuple[int, ...] = ()  # number of the switch that each host is at
    servers: Servers | None = None  # whose NICs the hosts are

    def part(self, number: int, end: float = math.inf) -> Context:
        """For one pattern within another: its own random numbers, and perhaps an earlier end."""
        return replace(self, end=min(self.end, end), seed=(*self.seed, number))

    def random(self, *stream: int) -> np.random.Generator:
        """Random numbers that depend on nothing but the seed and the stream's number."""
        return np.random.default_rng((*self.seed, *stream))


class Pattern(Part):
    """A block `traffic:` of an experiment file."""

    payload: Payload = Field(default=1000.0, description="User data in a full packet.")
    dscp: Dscp | None = Field(
        default=None, description="DSCP of all its packets; by default that of the block around it, else 26."
    )
    ecn: Ecn | None = Field(
        default=None,
        description="`off`: not ECN-capable; `ce`: marked by their senders; by default as in the block around it, "
        "else `on`.",
    )

    def named(self, _hosts: Mapping[str, str]) -> Self:
        """The same where a file numbers nodes: these are our names of hosts by those in the rack's file."""
        return self

    @abstractmethod
    def hosts_needed(self) -> int:
        """Hosts h1 to hN that must be there; 0 if any number will do."""

    @abstractmethod
    def flow_count(self, context: Context) -> float:
        """About how many flows `plan` would make; quick."""

    @abstractmethod
    def plan(self, context: Context) -> Plan:
        """The flows, and who waits for whom."""

    def marked(self, plan: Plan) -> Plan:
        """The same with its DSCP and ECN, for flows that have none of their own."""
        return plan.with_headers(self.dscp, self.ecn)

    def links_filled(self, context: Context) -> float:
        """Number of links that the data can fill at once: senders or receivers, whichever are fewer."""
        plan = self.plan(context)
        return min(len(set(plan.src)), len(set(plan.dst)))

    def notes(self) -> list[str]:
        """What a reader of the results must know of this traffic."""
        return []

    def inputs(self) -> list[Input]:
        """Files that the flows come from, as they were when they were read; keys are relative to this block."""
        return []

    @property
    def blamed(self) -> Keys:
        """By what too many hosts, too many flows, or a late start were asked for."""
        return Keys()

    def with_payload(self, payload: float) -> Self:
        """The same pattern with other packets."""
        return self.model_copy(update={"payload": payload})


class Listed(Pattern):
    """A pattern whose flows are few enough to be listed one by one."""

    @abstractmethod
    def expand(self, context: Context) -> list[Flow]:
        """The flows."""

    def plan(self, context: Context) -> Plan:
        """Of the list."""
        return Plan.of(self.expand(context))


FlowSize = Annotated[Size, Field(ge=1)] | None


def endless(size: float | None) -> float:
    """Null in the file is an endless flow."""
    return math.inf if size is None else size


def one_payload(block: Any, payload: Any, key: str) -> Any:
    """A run has packets of one size: that of the outer block is passed on to those within."""
    if not isinstance(block, dict):
        return block
    if block.get("payload", payload) != payload:
        refuse(f"{key}.payload", "all flows have packets of one size: say it once, in traffic.payload")
    return {**block, "payload": payload}
