"""Flows of published sizes that arrive at random, at a given load."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from testbed.base.arrays import Floats
from testbed.base.inputs import Input
from testbed.errors import BadInput
from testbed.experiment.block import Count, Moment, Part, Share, refuse
from testbed.experiment.traffic.all_to_all import Hosts
from testbed.experiment.traffic.distribution import Distribution, load
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.pattern import Context, Keys, Listed
from testbed.units import Size, Time, show_size

INCASTS = 1 << 32  # number of the random stream of the incasts; hosts have theirs below


class MixedIn(Part):
    """Incasts within random traffic: at regular times, each from random hosts to a random one."""

    degree: Count = Field(description="Flows of each incast; more than there are other hosts share these.")
    size: Annotated[Size, Field(ge=1)] = Field(description="User data of each of these flows.")
    period: Annotated[Time, Field(gt=0)] | None = Field(default=None, description="Time between two incasts.")
    share: Annotated[Share, Field(gt=0)] | None = Field(
        default=None,
        description="Instead of the period: share of all hosts' line rate that they fill, on top of `load`.",
    )

    @model_validator(mode="after")
    def _one_way_to_say_it(self) -> Self:
        if (self.period is None) == (self.share is None):
            refuse("period", "say either period or share")
        return self

    def every(self, context: Context, hosts: int) -> float:
        """Seconds between two incasts."""
        if self.period is not None:
            return self.period
        return self.degree * self.size * 8 / (hosts * context.line_rate * (self.share or 1.0))

    def expand(self, context: Context, hosts: int, start: float) -> list[Flow]:
        """The first one comes a period after the start."""
        random, flows = context.random(INCASTS), []
        period = self.every(context, hosts)
        times = np.arange(start + period, context.end, period)
        for begin in times[times < context.end].tolist():  # by rounding, arange may come to the end itself
            receiver, *others = (random.permutation(hosts) + 1).tolist()
            flows += [
                Flow(f"h{others[i % len(others)]}", f"h{receiver}", self.size, begin, "incast")
                for i in range(self.degree)
            ]
        return flows


class Poisson(Listed):
    """Random traffic: every host starts flows to random others, as a Poisson process."""

    pattern: Literal["poisson"] = Field(description="`poisson`")
    hosts: Hosts | None = Field(default=None, description="Hosts h1 to hN; by default all.")
    sizes: str = Field(
        description="Distribution of flow sizes: [a name](traffic.md#random-traffic), or a path: of YAML like those "
        "in testbed/experiment/traffic/sizes, or of text with a size and a share (percent, or up to 1) per line."
    )
    unit: Annotated[Size, Field(gt=0)] | None = Field(
        default=None,
        description="Unit of sizes in text, such as `1460 B`: by default bytes; with three columns, as in ns-2's "
        "scripts, packets of 1460 B.",
    )
    load: Annotated[Share, Field(gt=0)] = Field(
        description="Share of each host's line rate that it offers, as user data; headers come on top."
    )
    largest: Annotated[Size, Field(ge=1)] | None = Field(
        default=None, description="Sizes above are cut to this, and flows come as much more often."
    )
    start: Moment = Field(default=0.0, description="When it begins; flows arrive until the end of the run.")
    incast: MixedIn | None = Field(default=None, description="Incasts mixed in; null for none.")
    label: str = Field(default="background", description="Name of these flows in the results.")

    @model_validator(mode="after")
    def _known(self) -> Self:
        try:
            load(self.sizes, self.unit)
        except BadInput as error:
            refuse("sizes", str(error))
        return self

    @property
    def distribution(self) -> Distribution:
        """Of the flow sizes."""
        return self._whole if self.largest is None else self._whole.up_to(self.largest)

    @property
    def _whole(self) -> Distribution:
        return load(self.sizes, self.unit)

    def _hosts(self, context: Context) -> int:
        return self.hosts or context.hosts

    def _gap(self, context: Context) -> float:
        """Mean time between two flows of a host."""
        return self.distribution.mean * 8 / (context.line_rate * self.load)

    def hosts_needed(self) -> int:
        """As asked, or any number."""
        return self.hosts or 0

    def flow_count(self, context: Context) -> float:
        """The expected number."""
        hosts, seconds = self._hosts(context), max(0.0, context.end - self.start)
        incasts = seconds / self.incast.every(context, hosts) * self.incast.degree if self.incast else 0.0
        return hosts * seconds / self._gap(context) + incasts

    def expand(self, context: Context) -> list[Flow]:
        """A host's flows depend on the seed and its number; how many others there are only changes where they go."""
        hosts, sizes, gap = self._hosts(context), self.distribution, self._gap(context)
        flows = []
        for src in range(hosts):
            random = context.random(src)
            starts = arrivals(random, gap, self.start, context.end)
            to = random.integers(1, hosts, len(starts)) + src  # any other, counted from the next host on
            found = sizes.sizes(random.random(len(starts)))
            flows += [
                Flow(f"h{src + 1}", f"h{dst % hosts + 1}", size, start, self.label)
                for dst, size, start in zip(to.tolist(), found.tolist(), starts.tolist(), strict=True)
            ]
        return flows + (self.incast.expand(context, hosts, self.start) if self.incast else [])

    def links_filled(self, context: Context) -> float:
        """As much as is offered."""
        share = self.load
        if self.incast:
            hosts = self._hosts(context)
            bits = self.incast.degree * self.incast.size * 8
            share += bits / self.incast.every(context, hosts) / (hosts * context.line_rate)
        return self._hosts(context) * share

    def notes(self) -> list[str]:
        """That sizes were cut."""
        whole = self._whole
        if self.distribution is whole or self.largest is None:
            return []
        return [
            f"sizes of '{self.sizes}' above {show_size(self.largest)} were cut to it: mean "
            f"{show_size(self.distribution.mean)} instead of {show_size(whole.mean)}"
        ]

    def inputs(self) -> list[Input]:
        """The distribution, a shipped one as well."""
        return [self._whole.read]

    @property
    def blamed(self) -> Keys:
        """The load makes flows."""
        return Keys(flows="load")


def arrivals(random: np.random.Generator, gap: float, start: float, end: float) -> Floats:
    """Times of a Poisson process from ``start`` to before ``end``, ``gap`` seconds apart on average."""
    times: Floats = np.empty(0)
    last = start
    while last < end:
        expected = (end - last) / gap
        more = last + np.cumsum(random.exponential(gap, int(expected + 4 * expected**0.5) + 4))
        times, last = np.concatenate((times, more)), float(more[-1])
    return times[times < end]
