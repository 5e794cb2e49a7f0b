"""Long flows that short ones interrupt."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from testbed.experiment.block import Count, Moment
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.incast import senders_of
from testbed.experiment.traffic.pattern import Context, Keys, Listed
from testbed.units import Size


class LongShort(Listed):
    """Endless flows to one receiver, interrupted by short ones.

    Hosts h1 to hN send to the next one, h(N+1); flows are dealt out to the hosts in turn, the long ones first.
    """

    pattern: Literal["long-short"] = Field(description="`long-short`")
    long: Count = Field(default=1, description="Endless flows; they start at 0.")
    short: Count = Field(description="Short flows of each interruption.")
    short_size: Annotated[Size, Field(ge=1)] = Field(default=64e3, description="User data of a short flow.")
    interruptions: Annotated[list[Moment], Field(min_length=1)] = Field(
        description="When the short flows start: all of them each time."
    )
    spread: Moment = Field(
        default=0.0, description="Each short flow starts up to this later, uniform at random by the seed."
    )
    senders: Count | None = Field(
        default=None, description="Sending hosts; by default as many as `incast` takes for long + short flows."
    )

    @property
    def _senders(self) -> int:
        return self.senders or senders_of(self.long + self.short)

    def hosts_needed(self) -> int:
        """The senders and the receiver."""
        return self._senders + 1

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        return self.long + self.short * len(self.interruptions)

    def expand(self, context: Context) -> list[Flow]:
        """The long flows, then one interruption after the other; a host has the same short flows in each."""
        senders = self._senders
        receiver = f"h{senders + 1}"
        flows = [Flow(f"h{i % senders + 1}", receiver, math.inf, 0.0, "long") for i in range(self.long)]
        random = context.random()
        for begin in self.interruptions:
            late = random.uniform(0.0, self.spread, self.short) if self.spread else [0.0] * self.short
            flows += [
                Flow(f"h{i % senders + 1}", receiver, self.short_size, begin + float(later), "short")
                for i, later in enumerate(late, start=self.long)
            ]
        return flows

    @property
    def blamed(self) -> Keys:
        """The short flows come and go."""
        return Keys("short" if self.senders is None else "senders", "short", "interruptions")
