"""`time`: how long a run is, which part of it counts, and how much slower it is than the emulated rack."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from testbed.experiment.block import Part, refuse
from testbed.units import Time, show_time

DILATIONS = (1.0, 1e6)


def _auto_or_number(value: object) -> float | str:
    """A validator of its own, so that messages speak of the number and not of the members of a union."""
    if value == "auto":
        return "auto"
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type] # caught below
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        shown = str(value).lower() if isinstance(value, bool) else f"'{value}'"
        raise ValueError(f"expected a number or 'auto', got {shown}")
    if not DILATIONS[0] <= number <= DILATIONS[1]:
        bound = f"at least {DILATIONS[0]:g}" if number < DILATIONS[0] else f"at most {DILATIONS[1]:g}"
        raise ValueError(f"must be {bound}, got {number:g}")
    return number


AutoOrDilation = Annotated[
    float | Literal["auto"],
    BeforeValidator(_auto_or_number),
    WithJsonSchema(
        {"anyOf": [{"type": "number", "minimum": DILATIONS[0], "maximum": DILATIONS[1]}, {"const": "auto"}]}
    ),
]


class TimeSpan(Part):
    """How long, and how much slower than the emulated rack."""

    duration: Annotated[Time, Field(gt=0)] = Field(default=30e-3, description="Nominal length of the run.")
    warmup: Annotated[Time, Field(ge=0)] = Field(
        default_factory=lambda data: data.get("duration", 0.0) / 3,
        description="Left out of the summary; by default a third of the duration (10 ms of 30 ms).",
    )
    until_rest: Annotated[Time, Field(ge=0)] = Field(
        default=0.0,
        description="Most time to go on after `duration` until the window, which moves by its length, is at rest.",
    )
    dilation: AutoOrDilation = Field(
        default=1000.0,
        description="Wall seconds per nominal second, on the kernel and live engine. `auto` (kernel) measures this "
        "machine and takes the smallest that should be clean.",
    )

    @property
    def window(self) -> float:
        """How long the summary's window is."""
        return self.duration - self.warmup

    @property
    def windows(self) -> int:
        """How many there may be, one behind the other."""
        return 1 + max(int((self.until_rest - self.duration) / self.window + 1e-9), 0)

    @property
    def end(self) -> float:
        """When the run ends at the latest."""
        return self.duration + (self.windows - 1) * self.window

    @property
    def factor(self) -> float:
        """The dilation as a number; `testbed.engines.kernel.speed` turns `auto` into one."""
        if isinstance(self.dilation, str):
            raise ValueError("time.dilation is 'auto': this machine has not been measured yet")
        return self.dilation

    @model_validator(mode="after")
    def _something_is_measured(self) -> Self:
        if self.warmup >= self.duration:
            refuse("warmup", f"must be less than time.duration ({show_time(self.duration)})")
        if self.until_rest and self.windows == 1:
            least = show_time(self.duration + self.window)
            refuse("until_rest", f"has no room for another window after the first; expected at least {least}")
        return self
