"""The `rack:` block of an experiment file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from testbed.settings import Part, Share
from testbed.units import Rate, Size, Time

MOST_HOSTS = 1023  # a Linux bridge has 1,024 ports


class Link(Part):
    """Every cable of the rack."""

    rate: Annotated[Rate, Field(gt=0)] = Field(default=100e9, description="Speed of every link, both directions.")
    delay: Annotated[Time, Field(ge=0)] = Field(
        default=2e-6, description="One way, per link: the round trip through one switch is four times this."
    )
    loss: Share = Field(default=0.0, description="Share of packets lost at random at each switch port, by the seed.")


class Switch(Part):
    """The switch."""

    buffer: Annotated[Size, Field(gt=0)] = Field(
        default=5e6, description="Queue space of each port; what exceeds it is lost."
    )
    forwarding: Literal["bridge", "ovs"] = Field(
        default="bridge",
        description="Who forwards: `bridge` is the Linux bridge, `ovs` is Open vSwitch in the kernel, if it has it.",
    )


def _off(value: object) -> object:
    return "off" if value is False else value  # what YAML makes of `off`


class Rack(Part):
    """Hosts, links and the switch between them."""

    kind: Literal["star"] = Field(default="star", description="Shape: `star` is one switch with all hosts.")
    hosts: Annotated[int, Field(strict=True, ge=2, le=MOST_HOSTS)] | None = Field(
        default=None, description="Number of hosts, named h1, h2, ...; by default as many as the traffic needs."
    )
    link: Link = Field(default=Link(), description="Every cable of the rack.")
    switch: Switch = Field(default=Switch(), description="The switch.")
    calibrate: Annotated[Literal["off", "classes", "all"], BeforeValidator(_off)] = Field(
        default="classes",
        description="Measured before the run: every kind of link (`classes`), `all` links, or nothing (`off`).",
    )
    delay_by: Literal["auto", "netem", "delay-line"] = Field(
        default="auto",
        description="Who delays packets: `netem` in the kernel, or the `delay-line` of the sender where the kernel "
        "has no netem. `auto` takes netem if it is there.",
    )
