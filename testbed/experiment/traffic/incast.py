"""Many to one."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from testbed.experiment.block import Count, Moment, refuse
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.pattern import Context, FlowSize, Keys, Listed, endless

PUBLISHED = {
    2: (2, 1), 4: (4, 1), 16: (16, 1), 32: (32, 1), 64: (64, 1), 128: (64, 2), 256: (32, 8), 512: (64, 8),
    1024: (32, 32), 2048: (64, 32), 4096: (64, 64), 8192: (64, 128),
}  # fmt: skip
"""Flows: hosts x flows per host. ADPG (AAAI 2023), supplementary material on many-to-one."""
MOST_SENDERS = 64  # in that map, and so for any other number


def senders_of(flows: int) -> int:
    """Sending hosts of that many flows: as published, otherwise one flow each up to 64, then 64 hosts in turn."""
    return PUBLISHED[flows][0] if flows in PUBLISHED else min(flows, MOST_SENDERS)


class Incast(Listed):
    """Many senders, one receiver: hosts h1 to hN send to the next one, h(N+1).

    Say `flows`, or `senders` and perhaps `flows_per_sender`.
    """

    pattern: Literal["incast"] = Field(description="`incast`")
    senders: Count | None = Field(default=None, description="Sending hosts.")
    flows_per_sender: Count = Field(default=1, description="Flows of each sending host.")
    flows: Count | None = Field(
        default=None,
        description="How many flows, dealt out to hosts as ADPG publishes (hosts x flows): 2x1, 4x1, 16x1, 32x1, "
        "64x1, 64x2, 32x8, 64x8, 32x32, 64x32, 64x64, 64x128; others one per host up to 64, then in turn.",
    )
    size: FlowSize = Field(default=None, description="User data per flow; null is an endless flow.")
    start: Moment = Field(default=0.0, description="When the first flow starts.")
    stagger: Moment = Field(default=0.0, description="Flow i starts i times this later.")
    label: str = Field(default="", description="Name of these flows in the results.")

    @model_validator(mode="after")
    def _one_way_to_say_it(self) -> Self:
        if self.flows is None and self.senders is None:
            refuse("senders", "is required, or traffic.flows instead")
        if self.flows is not None and (self.senders is not None or self.flows_per_sender != 1):
            refuse("flows", "says it all: leave out senders and flows_per_sender (or set senders to null)")
        return self

    @property
    def _sending(self) -> int:
        return self.senders if self.senders is not None else senders_of(self.flows or 1)

    @property
    def total(self) -> int:
        """Number of flows."""
        return self.flows if self.flows is not None else self._sending * self.flows_per_sender

    def hosts_needed(self) -> int:
        """The senders and the receiver."""
        return self._sending + 1

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        return self.total

    def expand(self, _context: Context) -> list[Flow]:
        """The flows, neighbours on different hosts, so that a stagger brings in one host after the other."""
        size, senders = endless(self.size), self._sending
        return [
            Flow(f"h{i % senders + 1}", f"h{senders + 1}", size, self.start + i * self.stagger, self.label)
            for i in range(self.total)
        ]

    @property
    def blamed(self) -> Keys:
        """By how the flows are asked for."""
        start = "stagger" if self.stagger else "start"
        return Keys("flows", "flows", start) if self.senders is None else Keys("senders", "flows_per_sender", start)
