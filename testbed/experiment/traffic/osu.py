"""MPI_Alltoall as the OSU micro-benchmarks measure it: a sweep of sizes with a barrier after each exchange."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from testbed.experiment.block import Count, Moment
from testbed.experiment.traffic.all_to_all import Hosts, rounds
from testbed.experiment.traffic.flow import NO_GROUP, Flow
from testbed.experiment.traffic.pattern import Context, Keys, Listed
from testbed.units import Size

KIB = 1024.0


class OsuAllToAll(Listed):
    """Exchanges: every host sends a message to every other one, all at once; the last one acknowledged begins the next.

    The flows of an exchange are labelled with the size: `alltoall-32768`.
    """

    pattern: Literal["osu-all-to-all"] = Field(description="`osu-all-to-all`")
    hosts: Hosts = Field(description="Hosts h1 to hN.")
    sizes: Annotated[list[Annotated[Size, Field(ge=1)]], Field(min_length=1)] = Field(
        default=[32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, 1024 * KIB],
        description="The sizes that are swept.",
    )
    semantics: Literal["per-peer", "total"] = Field(
        default="per-peer",
        description="What a size is: `per-peer` one message, as in osu_alltoall; `total` what a host sends to all.",
    )
    iterations: Count = Field(default=10, description="Exchanges per size.")
    start: Moment = Field(default=0.0, description="When the first exchange begins.")
    pause: Moment = Field(default=0.0, description="Between the end of an exchange and the beginning of the next.")

    def hosts_needed(self) -> int:
        """All of them."""
        return self.hosts

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        return self.hosts * (self.hosts - 1) * self.iterations * len(self.sizes)

    def expand(self, _context: Context) -> list[Flow]:
        """Exchange after exchange; each is a group that the next one waits for."""
        flows = []
        for group in range(self.iterations * len(self.sizes)):
            size = self.sizes[group // self.iterations]
            message = size if self.semantics == "per-peer" else max(1.0, round(size / (self.hosts - 1)))
            after = group - 1 if group else NO_GROUP
            start = self.pause if group else self.start
            flows += [
                Flow(f"h{src + 1}", f"h{dst + 1}", message, start, f"alltoall-{size:.0f}", group, after)
                for src, dst in rounds(self.hosts)
            ]
        return flows

    @property
    def blamed(self) -> Keys:
        """The exchanges make flows."""
        return Keys(flows="iterations")
