"""The `rack:` block of an experiment file. Its ``kind`` chooses the other keys."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from testbed.experiment.block import Count, Part, Share, refuse
from testbed.experiment.topology.pfc import OnOrOff, on_or_off
from testbed.units import Rate, Size, Time, show_size

MOST_HOSTS = 1023  # a Linux bridge has 1,024 ports; other racks are limited by what one machine can build
MOST_SWITCHES = 255  # with hosts: one byte of an address


class LinkSettings(Part):
    """A kind of link."""

    rate: Annotated[Rate, Field(gt=0)] = Field(default=100e9, description="Speed, both directions.")
    delay: Annotated[Time, Field(ge=0)] = Field(
        default=2e-6, description="One way, per link; two links there and two back make four of it through one switch."
    )
    loss: Share = Field(default=0.0, description="Share of packets lost at random at each switch port, by the seed.")


class Switch(Part):
    """The switches."""

    buffer: Annotated[Size, Field(gt=0)] = Field(
        default=5e6, description="Queue space of each port; what exceeds it is lost."
    )
    forwarding: Literal["bridge", "ovs"] = Field(
        default="bridge",
        description="Who forwards in a star: `bridge` is the Linux bridge, `ovs` is Open vSwitch in the kernel, if it "
        "has it. Racks of several switches route.",
    )
    pfc: OnOrOff = Field(
        default=None,
        json_schema_extra=on_or_off,
        description="Priority flow control; `on` is the block with its defaults. The ports' buffers then belong to the "
        "ports at which packets come in.",
    )

    @model_validator(mode="after")
    def _pfc_fits(self) -> Self:
        if self.pfc:
            headroom = 0.0 if isinstance(self.pfc.headroom, str) else self.pfc.headroom
            if self.pfc.xoff + headroom > self.buffer:
                refuse("pfc.xoff", f"xoff and headroom must fit into the port's buffer ({show_size(self.buffer)})")
        return self


def _off(value: object) -> object:
    return "off" if value is False else value  # what YAML makes of `off`


class AnyRack(Part):
    """What racks of all kinds have."""

    link: LinkSettings = Field(default=LinkSettings(), description="The links between hosts and switches.")
    switch: Switch = Field(default=Switch(), description="The switches.")
    calibrate: Annotated[Literal["off", "classes", "all"], BeforeValidator(_off)] = Field(
        default="classes",
        description="Measured before the run: every kind of link (`classes`), `all` links, or nothing (`off`).",
    )
    delay_by: Literal["auto", "netem", "delay-line"] = Field(
        default="auto",
        description="Who delays packets: `netem` in the kernel, or the `delay-line` of the sender where the kernel "
        "has no netem. `auto` takes netem if it is there, but in racks of several switches with PFC the delay line.",
    )

    @property
    @abstractmethod
    def size(self) -> int | None:
        """Number of hosts; None for as many as the traffic needs."""

    @model_validator(mode="after")
    def _can_be_built(self) -> Self:
        if self.size is not None and self.size > MOST_HOSTS:
            refuse("kind", f"makes a rack of {self.size} hosts, at most {MOST_HOSTS} are possible")
        return self


class Star(AnyRack):
    """One switch, s1, with all hosts."""

    kind: Literal["star"] = Field(default="star", description="`star`")
    hosts: Annotated[int, Field(strict=True, ge=2, le=MOST_HOSTS)] | None = Field(
        default=None, description="Number of hosts, named h1, h2, ...; by default as many as the traffic needs."
    )

    @property
    def size(self) -> int | None:
        """As asked."""
        return self.hosts


Edge = Annotated[int, Field(strict=True, ge=1, le=MOST_SWITCHES)]
Some = Annotated[int, Field(strict=True, ge=2, le=MOST_SWITCHES)]


class _Routed(AnyRack):
    @model_validator(mode="after")
    def _routes(self) -> Self:
        if "forwarding" in self.switch.model_fields_set and self.switch.forwarding == "ovs":
            refuse("switch.forwarding", "'ovs' is possible in a star only; racks of several switches route")
        if self.switch.pfc and self.delay_by == "netem":
            refuse("delay_by", "'netem' delays behind the ports of switches, where pauses must hold; use 'delay-line'")
        return self


class LeafSpine(_Routed):
    """Leaves with hosts, and one link from every leaf to every spine. Hosts are numbered leaf by leaf."""

    kind: Literal["leaf-spine"] = Field(description="`leaf-spine`")
    leaves: Some = Field(default=2, description="Number of leaves, named leaf1, leaf2, ...")
    spines: Edge = Field(default=2, description="Number of spines, named spine1, spine2, ...")
    hosts_per_leaf: Count = Field(default=4, description="Number of hosts at each leaf.")
    uplink: LinkSettings = Field(default=LinkSettings(), description="The links between leaves and spines.")

    @property
    def size(self) -> int:
        """All leaves have the same number."""
        return self.leaves * self.hosts_per_leaf


class FatTree(_Routed):
    """Two levels, non-blocking: the uplinks of a ToR carry together what its hosts can send."""

    kind: Literal["fat-tree"] = Field(description="`fat-tree`")
    tors: Some = Field(default=4, description="Number of top-of-rack switches, named tor1, tor2, ...")
    cores: Edge = Field(
        default=4,
        description="Number of core switches, named core1, core2, ...; one link from every ToR to every core, with "
        "the rate of `link` times hosts_per_tor / cores, and the delay and loss of `link`.",
    )
    hosts_per_tor: Count = Field(default=16, description="Number of hosts at each ToR.")

    @property
    def size(self) -> int:
        """All ToRs have the same number."""
        return self.tors * self.hosts_per_tor


class Dumbbell(_Routed):
    """Two switches, s1 and s2, and one link between them."""

    kind: Literal["dumbbell"] = Field(description="`dumbbell`")
    left: Count = Field(default=4, description="Number of hosts at s1: h1, h2, ...")
    right: Count = Field(default=4, description="Number of hosts at s2; their numbers follow those of s1.")
    bottleneck: LinkSettings = Field(default=LinkSettings(), description="The link between the switches.")

    @property
    def size(self) -> int:
        """Both sides."""
        return self.left + self.right


def _star_by_default(value: Any) -> Any:
    if value is None:
        return {"kind": "star"}
    return {"kind": "star", **value} if isinstance(value, dict) else value


Rack = Annotated[Star | LeafSpine | FatTree | Dumbbell, Field(discriminator="kind"), BeforeValidator(_star_by_default)]
