"""The `rack:` block of an experiment file."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from testbed.settings import Part, Share, refuse
from testbed.units import SIZE_UNITS, Rate, Size, Time, parse, show_size

MOST_HOSTS = 1023  # a Linux bridge has 1,024 ports


class Link(Part):
    """Every cable of the rack."""

    rate: Annotated[Rate, Field(gt=0)] = Field(default=100e9, description="Speed of every link, both directions.")
    delay: Annotated[Time, Field(ge=0)] = Field(
        default=2e-6, description="One way, per link: the round trip through one switch is four times this."
    )
    loss: Share = Field(default=0.0, description="Share of packets lost at random at each switch port, by the seed.")


def _auto_or_size(value: object) -> float | str:
    return "auto" if value == "auto" else parse(value, SIZE_UNITS, "a size or 'auto'")


AutoOrSize = Annotated[
    float | Literal["auto"],
    BeforeValidator(_auto_or_size),
    PlainSerializer(lambda value: value if value == "auto" else show_size(value), when_used="json"),
    WithJsonSchema({"type": "string", "examples": ["auto", "100 kB"]}),
]


class Pfc(Part):
    """Priority flow control (802.1Qbb): nothing is dropped, senders pause. All sizes are per ingress port."""

    xoff: Annotated[Size, Field(gt=0)] = Field(
        default=200e3, description="Bytes that came in at a port and have not left the switch, above which the port "
        "tells its far end to pause."
    )  # fmt: skip
    xon: Annotated[Size, Field(ge=0)] = Field(
        default_factory=lambda data: data.get("xoff", 0.0) / 2,
        description="Bytes down to which they must fall before the far end may go on; by default half of `xoff`.",
    )
    headroom: AutoOrSize = Field(
        default="auto",
        description="Room beyond `xoff` for what still arrives until a pause is felt; `auto` is what that needs. What "
        "exceeds it is dropped.",
    )

    @model_validator(mode="after")
    def _hysteresis(self) -> Self:
        if self.xon >= self.xoff:
            refuse("xon", f"must be less than xoff ({show_size(self.xoff)}), got {show_size(self.xon)}")
        return self


def _switched(value: object) -> object:
    """``on`` means the defaults; YAML makes booleans of ``on`` and ``off``."""
    if value in (True, "on"):
        return {}
    if value in (False, "off"):
        return None
    if isinstance(value, dict | Pfc):
        return value
    raise ValueError(f"expected 'on', 'off', or a block with xoff, xon and headroom, got {value or 'nothing'}")


OnOrOff = Annotated[
    Pfc | None,
    BeforeValidator(_switched),
    PlainSerializer(lambda value: value or "off"),
]


def _on_or_off(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [{"enum": ["on", "off", True, False]}, *(one for one in schema["anyOf"] if "$ref" in one)]
    schema["default"] = "off"


class Switch(Part):
    """The switch."""

    buffer: Annotated[Size, Field(gt=0)] = Field(
        default=5e6, description="Queue space of each port; what exceeds it is lost."
    )
    forwarding: Literal["bridge", "ovs"] = Field(
        default="bridge",
        description="Who forwards: `bridge` is the Linux bridge, `ovs` is Open vSwitch in the kernel, if it has it.",
    )
    pfc: OnOrOff = Field(
        default=None,
        json_schema_extra=_on_or_off,
        description="Priority flow control; `on` is the block with its defaults. The ports' buffers then belong to the "
        "ports at which packets come in.",
    )

    @model_validator(mode="after")
    def _pfc_fits(self) -> Self:
        if self.pfc:
            headroom = 0.0 if isinstance(self.pfc.headroom, str) else self.pfc.headroom
            if self.pfc.xoff + headroom > self.buffer:
                refuse("pfc.xoff", f"and headroom must fit into the port's buffer ({show_size(self.buffer)})")
        return self


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
