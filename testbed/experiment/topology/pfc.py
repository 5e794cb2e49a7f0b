"""The `rack.switch.pfc:` block of an experiment file."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from testbed.experiment.block import Part, refuse
from testbed.units import AutoOrSize, Size, show_size


class Hysteresis(Part):
    """What pauses above a threshold, until it has fallen to another one, and what comes meanwhile."""

    xoff: float
    xon: float
    headroom: AutoOrSize = Field(
        default="auto",
        description="Buffer for what still arrives until a pause takes effect; `auto` is what that needs.",
    )

    @model_validator(mode="after")
    def _hysteresis(self) -> Self:
        if self.xon >= self.xoff:
            refuse("xon", f"must be less than xoff ({show_size(self.xoff)}), got {show_size(self.xon)}")
        return self


class Pfc(Hysteresis):
    """Priority flow control (802.1Qbb), per ingress port; `on` is the block with its defaults."""

    xoff: Annotated[Size, Field(gt=0)] = Field(
        default=200e3,
        description="Bytes that came in and have not left, above which the port pauses its peer."
    )  # fmt: skip
    xon: Annotated[Size, Field(ge=0)] = Field(
        # a larger distance makes longer bursts, and each gives DCQCN one CNP
        default_factory=lambda data: 0.9 * data.get("xoff", 0.0),
        description="Bytes down to which the peer stays paused; by default 90 % of `xoff`.",
    )


def _switched(value: object) -> object:
    """``on`` means the defaults; YAML makes booleans of ``on`` and ``off``."""
    if value in (True, "on"):
        return {}
    if value in (False, "off"):
        return None
    if isinstance(value, dict | Pfc):
        return value
    raise ValueError(f"expected 'on', 'off', or a block with xoff, xon and headroom, got {value or 'nothing'}")


OnOrOff = Annotated[Pfc | None, BeforeValidator(_switched), PlainSerializer(lambda value: value or "off")]


def on_or_off(schema: dict[str, Any]) -> None:
    """Describe `OnOrOff` in the JSON schema."""
    schema["anyOf"] = [{"enum": ["on", "off", True, False]}, *(one for one in schema["anyOf"] if "$ref" in one)]
    schema["default"] = "off"
