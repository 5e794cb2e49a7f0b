"""What calibration finds of a link, beside what the experiment says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Measured:
    """One property of one link."""

    link: str
    what: str
    expected: float
    measured: float
    tolerance: float  # in the unit of both
    shown: Callable[[float], str]

    @property
    def good(self) -> bool:
        """Whether it is as expected, within the tolerance."""
        return abs(self.measured - self.expected) <= self.tolerance

    def as_dict(self) -> dict[str, Any]:
        """For the manifest; SI units."""
        return {name: value for name, value in asdict(self).items() if name != "shown"} | {"good": self.good}

    def __str__(self) -> str:
        return f"{self.link}: {self.what} expected {self.shown(self.expected)}, measured {self.shown(self.measured)}"
