"""Blocks of an experiment file that describe links: a kind of link, and links that differ from their kind."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from testbed.experiment.block import Part, Share
from testbed.experiment.topology.shape import LinkKind
from testbed.units import Rate, Size, Time

SEVERAL = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
HOST_RANGE = re.compile(r"h([1-9]\d*)-h([1-9]\d*)")

PositiveRate = Annotated[Rate, Field(gt=0)]
Delay = Annotated[Time, Field(ge=0)]
Buffer = Annotated[Size, Field(gt=0)]


class LinkSettings(Part):
    """A kind of link."""

    rate: PositiveRate = Field(default=100e9, description="Speed, both directions.")
    delay: Delay = Field(default=2e-6, description="One way, per link.")
    loss: Share = Field(default=0.0, description="Share of packets lost at random at each switch port, by the seed.")
    buffer: Buffer | None = Field(
        default=None, description="Queue space of each switch port at these links; by default `rack.switch.buffer`."
    )


def link_kind(kind: str, link: LinkSettings) -> LinkKind:
    """As the rack's shape has it; without a buffer of its own it gets that of all ports (`buffers`)."""
    buffer = math.inf if link.buffer is None else link.buffer
    return LinkKind(kind, link.rate, link.delay, link.loss, buffer)


class OwnSettings(Part):
    """What is said of single links; the rest is as `rack.link` or their kind says."""

    rate: PositiveRate | None = Field(default=None, description="Speed, both directions.")
    delay: Delay | None = Field(default=None, description="One way.")
    loss: Share | None = Field(default=None, description="Share of packets lost at random at each switch port.")
    buffer: Buffer | None = Field(default=None, description="Queue space of each of their switch ports.")

    def said(self) -> dict[str, Any]:
        """What is not left to the kind."""
        every = {"rate": self.rate, "delay": self.delay, "loss": self.loss, "buffer": self.buffer}
        return {key: value for key, value in every.items() if value is not None}


def _several(value: object) -> object:
    return [value] if isinstance(value, str) else value


class DifferingLinks(OwnSettings):
    """Links that differ from their kind. Later entries win."""

    of: Annotated[list[str], BeforeValidator(_several), Field(min_length=1), WithJsonSchema(SEVERAL)] = Field(
        description="Which: of hosts (`h3`, `h1-h8`), between switches (`leaf1-spine2`), or ports (`s1-eth3`)."
    )

    def names(self) -> list[str]:
        """Hosts one by one, and links."""
        found = []
        for name in self.of:
            ends = HOST_RANGE.fullmatch(name)
            found += [f"h{n}" for n in range(int(ends[1]), int(ends[2]) + 1)] if ends else [name]
        return found
