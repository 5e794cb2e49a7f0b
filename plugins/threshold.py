"""A threshold as its author writes it: ``65 kB`` holds on every port, ``400 kB at 25 Gbit/s`` scales with its rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from testbed.base.arrays import Floats
from testbed.units import RATE_UNITS, SIZE_UNITS, exactly, parse

AT = " at "


@dataclass(frozen=True)
class Threshold:
    """Bytes of a queue, and the port rate (bit/s) for which they are given; 0 for every rate."""

    size: float
    rate: float = 0.0

    @classmethod
    def read(cls, given: object) -> Self:
        """From text, or the number 0. Raises ValueError."""
        if isinstance(given, cls):
            return given
        size, at, rate = given.partition(AT) if isinstance(given, str) else (given, "", "")
        made = cls(parse(size, SIZE_UNITS, "a size"), parse(rate, RATE_UNITS, "a rate") if at else 0.0)
        if made.size < 0 or (at and made.rate <= 0):
            raise ValueError(
                f"expected a size of at least 0 B, such as '65 kB' or '400 kB at 25 Gbit/s', got '{given}'"
            )
        return made

    def __str__(self) -> str:
        size = exactly(self.size, SIZE_UNITS)
        return f"{size}{AT}{exactly(self.rate, RATE_UNITS)}" if self.rate else size

    def on(self, rates: Floats) -> Floats:
        """Bytes on ports of these rates."""
        return self.size * (rates / self.rate if self.rate else np.ones(len(rates)))


Written = Annotated[
    Threshold,
    PlainValidator(Threshold.read),
    PlainSerializer(str, return_type=str, when_used="json"),
    WithJsonSchema({"anyOf": [{"type": "string", "examples": ["65 kB", "400 kB at 25 Gbit/s"]}, {"const": 0}]}),
]
