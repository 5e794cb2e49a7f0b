"""What is said of a figure once, for all who show it: table, JSON, comparisons and docs/reference/results.md.

The registry is `testbed.results.summary.FIGURES`: a field of `Summary` is declared with `figure`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, ParamSpec

from pydantic import BaseModel, Field

from testbed.results.figures.measurements import Measurements
from testbed.units import rounded, show_rate, show_size, show_time

Told = ParamSpec("Told")
Direction = Literal["higher", "lower", ""]
Judgement = Literal["better", "worse", ""]

READERS = {"s": (1e6, "us"), "bit/s": (1e-9, "Gbit/s"), "B": (1e-3, "kB")}  # unit to scale and unit of a comparison
COUNTED = ("packets", "frames", "flows")
UNKNOWN = "-"
SMALLEST = 1e-6  # that is told as a number


@dataclass(frozen=True)
class Figure:
    """One figure of a run. Its values are SI, as in ``summary.json``."""

    description: str
    unit: str
    value: Callable[[Measurements], Any]
    row: str = ""  # of the tables; empty: it is in the JSON only
    word: str = ""  # what tells it from others of its row
    better: Direction = ""  # empty: neither, and it is not compared
    source: str = ""  # who defines it, and how ours differs
    of_dominance: bool = False  # what `testbed.results.compare.pareto` weighs
    of_idle: bool = False  # means something even where next to nothing was delivered
    same_as: str = ""  # a comparison leaves it out where it equals this figure everywhere
    with_start: bool = False  # of the whole run: not known where this machine did not keep up with its start
    wall: bool = False  # made of wall time: another value in every run, and no part of what must be the same
    seldom: bool = False  # of some scenarios: a run's table leaves it out where it is unknown
    name: str = ""  # the summary's field, and the name in --fail-if

    @property
    def label(self) -> str:
        """What it is called on its own: ``QL p99``."""
        return f"{self.row} {self.word}".rstrip()

    @property
    def scale(self) -> float:
        """From SI to `readers_unit`."""
        return READERS.get(self.unit, (1.0, ""))[0]

    @property
    def readers_unit(self) -> str:
        """The one unit in which runs are compared."""
        return READERS.get(self.unit, (1.0, self.unit))[1]

    @property
    def title(self) -> str:
        """Label and unit: ``QL p99, us``."""
        return f"{self.label}, {self.readers_unit}" if self.unit else self.label

    def judge(self, value: float, other: float) -> Judgement:
        """Whether a value is better than the other one; empty if they are equal, unknown, or neither is better."""
        if not self.better or not (value > other or value < other):
            return ""
        return "better" if (value > other) == (self.better == "higher") else "worse"

    def number(self, value: float) -> str:
        """In the reader's unit, which is not said."""
        return number(value * self.scale)

    def text(self, value: float) -> str:
        """With the unit that reads best."""
        if not math.isfinite(value):
            return UNKNOWN
        if self.unit == "s":
            return shown_time(value)
        if self.unit in READERS:
            return (show_rate if self.unit == "bit/s" else show_size)(rounded(value))
        return f"{value:,.0f}" if self.unit in COUNTED else f"{number(value)} {self.unit}".rstrip()

    @property
    def beside(self) -> str:
        """What stands beside its text in a row."""
        return self.word or (self.unit if self.unit in COUNTED else "")


def number(value: float) -> str:
    """Four digits, but never an exponent: small shares are what loss is about. What is not 0 is not told as 0."""
    if not math.isfinite(value):
        return UNKNOWN
    if 0 < abs(value) < SMALLEST:
        return f"< {SMALLEST:f}" if value > 0 else f"> -{SMALLEST:f}"
    digits = 0 if value == 0 else max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 6)}f}"


def shown_time(seconds: float) -> str:
    """A time with its unit: microseconds to the hundredth, shorter and longer ones with four digits."""
    if not math.isfinite(seconds):
        return UNKNOWN
    if seconds == 0 or 1e-7 <= abs(seconds) < 1e-3:
        return f"{seconds * 1e6:.2f} us"
    return show_time(rounded(seconds))


def _field(make: Callable[Told, Figure]) -> Callable[Told, Any]:
    def field(*told: Told.args, **more: Told.kwargs) -> Any:
        made = Field()
        made.metadata.append(make(*told, **more))
        return made

    return field


figure = _field(Figure)  # a field of a summary that is the figure of its name


def figures_of(summary: type[BaseModel]) -> Mapping[str, Figure]:
    """Name to figure, in the order of the fields."""
    return {
        name: replace(one, name=name)
        for name, field in summary.model_fields.items()
        for one in field.metadata
        if isinstance(one, Figure)
    }
