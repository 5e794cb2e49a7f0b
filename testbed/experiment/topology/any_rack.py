"""What the `rack:` blocks of an experiment file have in common, whatever their ``kind``."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from testbed.base.inputs import Input
from testbed.experiment.block import Part, refuse
from testbed.experiment.topology.links import Buffer, LinkSettings
from testbed.experiment.topology.pfc import OnOrOff, on_or_off

MOST_HOSTS = 65_535  # two bytes of an address
MOST_SWITCHES = 255  # with hosts: one byte of an address


class Switch(Part):
    """The switches."""

    buffer: Buffer | None = Field(
        default=None,
        description="Queue space of each port; what exceeds it is lost. By default 5 MB, and above 100 Gbit/s what the "
        "rack's fastest link sends in as much time, 400 us: a single port's share of the memory of [switches of that "
        "speed](fidelity.md#where-the-default-buffer-comes-from).",
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
        "has no netem. `auto` takes netem if it is there, but the delay line in racks of several switches with PFC, "
        "and in those of Bolt.",
    )

    @property
    @abstractmethod
    def size(self) -> int | None:
        """Number of hosts; None for as many as the traffic needs."""

    def inputs(self) -> list[Input]:
        """Files that it was read from."""
        return []

    @model_validator(mode="after")
    def _can_be_built(self) -> Self:
        if self.size is not None and self.size > MOST_HOSTS:
            refuse("kind", f"makes a rack of {self.size} hosts, at most {MOST_HOSTS} are possible")
        return self


class Routed(AnyRack):
    """A rack of several switches."""

    @model_validator(mode="after")
    def _routes(self) -> Self:
        if "forwarding" in self.switch.model_fields_set and self.switch.forwarding == "ovs":
            refuse("switch.forwarding", "'ovs' is possible in a star only; racks of several switches route")
        if self.switch.pfc and self.delay_by == "netem":
            refuse("delay_by", "'netem' delays behind the ports of switches, where pauses must hold; use 'delay-line'")
        return self
