"""A constant rate and no reaction: the baseline that shows what a rack does without congestion control."""

from __future__ import annotations

from pydantic import Field, field_validator

from testbed.base.arrays import Floats, Ints
from testbed.controller import Feedback, Paths, RateController, Signal
from testbed.plugin import PluginConfig
from testbed.units import RATE_UNITS, RATIO_UNITS, parse


class FixedConfig(PluginConfig):
    """Options of `Fixed`."""

    rate: str = Field(default="100 %", description="A rate (10 Gbit/s), or a share of the sender's line rate (50 %).")

    @field_validator("rate", mode="before")
    @classmethod
    def _text(cls, value: object) -> str:
        number, is_share = _read(value)
        if number <= 0 or (is_share and number > 1):
            raise ValueError(
                f"'{value}' is not a rate; write for example '10 Gbit/s', or a share above 0 up to '100 %'"
            )
        return str(value)

    def on(self, line_rate: Floats) -> Floats:
        """The rate in bit/s on lines of ``line_rate``, never more than the line."""
        value, is_share = _read(self.rate)
        wanted = value * line_rate if is_share else line_rate * 0 + value
        return wanted.clip(max=line_rate)


def _read(value: object) -> tuple[float, bool]:
    """The number in SI, and whether it is a share of the line."""
    try:
        return parse(value, RATIO_UNITS, "a share"), True
    except ValueError:
        return parse(value, RATE_UNITS, "a rate or a share of the line (50 %)"), False


class Fixed(RateController):
    """Constant rate, no reaction."""

    name = "fixed"
    signals = Signal.NONE
    Config = FixedConfig
    adaptive = False

    config: FixedConfig

    def __init__(self, config: FixedConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        self.rate = config.on(paths.line_rate)

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        """Nothing changes the rate."""
