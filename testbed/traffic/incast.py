"""Many to one."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from testbed.settings import Count, Moment, Part
from testbed.traffic.flow import Flow, Payload
from testbed.units import Size


class Incast(Part):
    """Many senders, one receiver: hosts h1 to hN send to the next one, h(N+1)."""

    pattern: Literal["incast"] = Field(description="`incast`")
    senders: Count = Field(description="Number of sending hosts.")
    flows_per_sender: Count = Field(default=1, description="Flows of each sending host.")
    payload: Payload = Field(default=1000.0, description="User data in a full packet.")
    size: Annotated[Size, Field(ge=1)] | None = Field(
        default=None, description="User data per flow; null is an endless flow."
    )
    start: Moment = Field(default=0.0, description="When the first flow starts.")
    stagger: Moment = Field(default=0.0, description="Flow i starts i times this later.")

    def expand(self) -> list[Flow]:
        """The flows, neighbours on different hosts, so that a stagger brings in one host after the other."""
        size = math.inf if self.size is None else self.size
        return [
            Flow(f"h{i % self.senders + 1}", f"h{self.senders + 1}", size, self.start + i * self.stagger)
            for i in range(self.senders * self.flows_per_sender)
        ]
