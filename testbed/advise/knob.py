"""What may be changed: a key of the experiment, with the values that it may have.

Values are rounded to what a switch takes and a reader remembers: two digits, whole percent, powers of two for alpha.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Self

from pydantic import BaseModel, ConfigDict

from testbed.errors import BadInput
from testbed.units import RATE_UNITS, RATIO_UNITS, SIZE_UNITS, TIME_UNITS, parse, rounded, show

KINDS = {"size": SIZE_UNITS, "time": TIME_UNITS, "rate": RATE_UNITS, "ratio": RATIO_UNITS}
EXAMPLE = "for example 'rack.switch.queues.3.red.kmin=20 kB..2 MB', or 'rack.switch.groups.3.alpha=0.125,0.25'"
DIGITS = 2
WIDE = 10.0  # ends that are so far apart are searched by their logarithm


class Knob(BaseModel):
    """A range of one kind of quantity, or a few texts in order."""

    model_config = ConfigDict(frozen=True)

    key: str
    kind: str = "number"
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str, ...] = ()
    also: tuple[str, ...] = ()  # keys that get the same, for a switch has them in one profile

    @classmethod
    def read(cls, text: str) -> Self:
        """Of ``KEY=LOW..HIGH`` or ``KEY=A,B,C``. Raises BadInput."""
        key, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not key or not values:
            raise BadInput(f"--change {text}: expected KEY=LOW..HIGH or KEY=A,B,C, {EXAMPLE}")
        first, dots, last = (part.strip() for part in values.partition(".."))
        if not dots:
            return cls._of_choices(text, key, [one.strip() for one in values.split(",")])
        kind = _kind(first, last)
        if kind is None:
            raise BadInput(f"--change {text}: '{first}' and '{last}' are no two values of one unit; {EXAMPLE}")
        low, high = (_value(kind, one) for one in (first, last))
        if not 0 < low < high:
            raise BadInput(f"--change {text}: expected two values above 0, the lower one first")
        if key.endswith(".alpha"):
            exponents = range(math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9) + 1)
            return cls._of_choices(text, key, [f"{2.0**one:g}" for one in exponents])
        return cls(key=key, kind=kind, low=low, high=high)

    @classmethod
    def _of_choices(cls, text: str, key: str, choices: list[str]) -> Self:
        if len(choices) < 2 or "" in choices or len(set(choices)) < len(choices):
            raise BadInput(f"--change {text}: expected at least two different values, {EXAMPLE}")
        return cls(key=key, kind="choice", choices=tuple(choices))

    @property
    def name(self) -> str:
        """The end of the key, with the number of its queue or group: ``q3 kmin``."""
        parts = self.key.split(".")
        numbers = [f"{parts[at][0]}{one} " for at, one in enumerate(parts[1:]) if one.isdecimal()]
        return f"{''.join(numbers)}{parts[-1]}"

    @property
    def log(self) -> bool:
        """Whether its scale is logarithmic."""
        return not self.choices and self.high >= WIDE * self.low

    def text(self, value: float) -> str:
        """A position in the range, or the number of a choice, as the experiment has it."""
        if self.choices:
            return self.choices[round(value)]
        if self.kind == "ratio":
            return f"{max(round(100 * value), 1)} %"
        if self.key.endswith(".weight"):
            return f"{round(value)}"
        near = rounded(value, DIGITS)
        return _shown(self.kind, near) if self.kind in KINDS else f"{near:g}"

    def position(self, text: str) -> float | None:
        """The reverse; None for what is not in the range. Raises no error: a present value may be anything."""
        if self.choices:
            return float(self.choices.index(text)) if text in self.choices else None
        value = self.number(text)
        return value if self.low <= value <= self.high else None

    def at(self, share: float) -> str:
        """The text at a share of the range."""
        if self.choices:
            return self.text(share * (len(self.choices) - 1))
        if self.log:
            return self.text(self.low * (self.high / self.low) ** share)
        return self.text(self.low + (self.high - self.low) * share)

    def share(self, text: str) -> float:
        """The reverse; what is outside of the range is at its end, and what is no such quantity in the middle."""
        if self.choices:
            return self.choices.index(text) / (len(self.choices) - 1) if text in self.choices else 0.5
        value = min(max(self.number(text), self.low), self.high)
        if math.isnan(value):
            return 0.5
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def number(self, text: str) -> float:
        """What a text comes to, in SI units; nan if it is no such quantity."""
        try:
            return _value(self.kind, text)
        except ValueError:
            return math.nan


def _kind(*texts: str) -> str | None:
    for kind in (*(one for one in KINDS if one != "ratio"), "number", "ratio"):
        try:
            if all(_value(kind, text) or True for text in texts):
                return kind
        except ValueError:
            continue
    return None


@lru_cache(1024)
def _value(kind: str, text: str) -> float:
    return parse(text, KINDS[kind], f"a {kind}") if kind in KINDS else float(text)


@lru_cache(1024)
def _shown(kind: str, value: float) -> str:
    return show(value, KINDS[kind])


def ordered(texts: Mapping[str, str]) -> tuple[str, ...]:
    """Kmax at least as high as Kmin: of a candidate that has them the other way round, a step at Kmin."""
    found = dict(texts)
    for key, text in texts.items():
        other = f"{key.removesuffix('kmin')}kmax"
        if key.endswith("kmin") and other in found and _value("size", text) > _value("size", found[other]):
            found[other] = text
    return tuple(f"{key}={text}" for key, text in found.items())
