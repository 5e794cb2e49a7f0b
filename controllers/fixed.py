"""A constant rate and no reaction: the baseline that shows what a rack does without congestion control."""

from __future__ import annotations

from pydantic import Field, field_validator

from testbed.controller import CompiledController, Path, Signal
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

    def on(self, line_rate: float) -> float:
        """The rate in bit/s on a line of ``line_rate``, never more than the line."""
        value, is_share = _read(self.rate)
        return min(value * line_rate if is_share else value, line_rate)


def _read(value: object) -> tuple[float, bool]:
    """The number in SI, and whether it is a share of the line."""
    try:
        return parse(value, RATIO_UNITS, "a share"), True
    except ValueError:
        return parse(value, RATE_UNITS, "a rate or a share of the line (50 %)"), False


class Fixed(CompiledController):
    """Constant rate, no reaction."""

    name = "fixed"
    signals = Signal.NONE
    Config = FixedConfig
    adaptive = False

    def __init__(self, config: FixedConfig, path: Path) -> None:
        super().__init__(config, path)
        self.rate = config.on(path.line_rate)
