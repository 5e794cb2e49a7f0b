"""Flows that are listed one by one in the experiment file."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from testbed.settings import HostName, Moment, Part, refuse
from testbed.traffic.flow import Flow, Payload
from testbed.units import Size


class FlowSpec(Part):
    """One flow of an explicit list."""

    src: HostName = Field(description="Sending host, h1 to hN.")
    dst: HostName = Field(description="Receiving host, another one.")
    size: Annotated[Size, Field(ge=1)] | None = Field(default=None, description="User data; null is an endless flow.")
    start: Moment = Field(default=0.0, description="When it starts.")

    @model_validator(mode="after")
    def _two_hosts(self) -> Self:
        if self.src == self.dst:
            refuse("dst", f"a flow needs two hosts, but src and dst are both '{self.src}'")
        return self


class FlowList(Part):
    """Flows that are listed one by one."""

    pattern: Literal["flows"] = Field(description="`flows`")
    payload: Payload = Field(default=1000.0, description="User data in a full packet.")
    flows: Annotated[list[FlowSpec], Field(min_length=1)] = Field(description="The flows, each with these keys:")

    def expand(self) -> list[Flow]:
        """The flows, in the order of the list."""
        return [Flow(f.src, f.dst, math.inf if f.size is None else f.size, f.start) for f in self.flows]
