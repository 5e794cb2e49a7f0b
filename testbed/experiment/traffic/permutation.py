"""Permutations: every host sends to one other, and receives from one."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from testbed.base.arrays import Ints
from testbed.experiment.block import Moment
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.pattern import Context, FlowSize, Listed, endless

Hosts = Annotated[int, Field(strict=True, ge=2)]


class Permutation(Listed):
    """Each of N hosts sends to one other and receives from one: a rack without oversubscription can carry it all."""

    pattern: Literal["permutation"] = Field(description="`permutation`")
    hosts: Hosts = Field(description="Hosts h1 to hN.")
    stride: Annotated[int, Field(strict=True, ge=1)] | None = Field(
        default=None,
        description="Host i sends to host i + stride, beginning again behind the last; null: at random, by the seed.",
    )
    size: FlowSize = Field(default=None, description="User data per flow; null is an endless flow.")
    start: Moment = Field(default=0.0, description="When the flows start.")

    def hosts_needed(self) -> int:
        """All of them."""
        return self.hosts

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        return self.hosts

    def expand(self, context: Context) -> list[Flow]:
        """A flow per host."""
        return [
            Flow(f"h{src + 1}", f"h{dst + 1}", endless(self.size), self.start)
            for src, dst in enumerate(self._receivers(context))
        ]

    def _receivers(self, context: Context) -> Ints:
        hosts = np.arange(self.hosts)
        if self.stride is not None:
            return (hosts + self.stride) % self.hosts
        order = context.random().permutation(self.hosts)  # each sends to the next in a random circle: none to itself
        receivers = np.empty_like(order)
        receivers[order] = np.roll(order, -1)
        return receivers
