"""How long may be searched: until a moment, or for so many runs, with which the answer is the same on any machine.

The search leaves what choice and check are expected to take. Whatever they take, nothing begins after that moment.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TypeVar

from testbed.errors import BadInput
from testbed.units import TIME_UNITS, parse

MARGIN = 1.15  # of the time that the check is expected to take
SEARCHED = 0.3  # of the budget
SLOWER = 3.0  # times the time of another one: a run whose thresholds a network sets

Work = TypeVar("Work")


class Spent(BadInput):
    """There was no time to begin all that was asked for."""

    def __init__(self) -> None:
        super().__init__("the time was used up before this had run; give a longer --budget")


def in_time(works: Iterable[Work], until: float | None) -> Iterator[Work]:
    """Those that are taken before this moment of `time.monotonic`."""
    return takewhile(lambda _work: until is None or time.monotonic() < until, works)


@dataclass(frozen=True)
class Budget:
    """One of the two: a moment of `time.monotonic`, or a number of runs, of search and check together."""

    until: float | None
    runs: int | None
    seconds: float = 0.0
    later: int = 0  # runs of choice and check
    slow: int = 0
    kept: float = 0.0  # seconds for the cases of a test plan, after all else

    @classmethod
    def read(cls, wall: str, runs: int | None) -> Budget:
        """Of ``10min`` or ``10 min``, from now on; a number of runs goes before it. Raises BadInput."""
        if runs is not None:
            return cls(None, runs)
        try:
            seconds = parse(re.sub(r"(?<=\d)(?=[a-z])", " ", wall), TIME_UNITS, "a time")
        except ValueError as error:
            raise BadInput(f"--budget: {error}") from None
        if seconds <= 0:
            raise BadInput(f"--budget {wall}: expected a time above 0, for example '10 min'")
        return cls(time.monotonic() + seconds, None, seconds)

    def without(self, runs: int, slow: int = 0) -> Budget:
        """What is left for the search if so many runs come later, of which some have a network that decides."""
        return replace(self, later=runs, slow=slow)

    @property
    def stop(self) -> float | None:
        """After which no run begins but those of the cases."""
        return None if self.until is None else self.until - self.kept

    def left(self, run: float) -> float:
        """Seconds for the search, if a run takes so many on average."""
        if self.stop is None:
            return math.inf
        return self.stop - time.monotonic() - MARGIN * run * (self.later + (SLOWER - 1) * self.slow)

    def too_short(self, run: float) -> bool:
        """Whether less than `SEARCHED` of what there was in the beginning is left for the search."""
        return self.left(run) < SEARCHED * self.seconds

    def fits(self, made: int, each: int, most: int, run: float) -> int:
        """How many candidates, at most so many, still fit that take ``each`` runs, after so many were made."""
        if self.runs is not None:
            return max(min(most, (self.runs - self.later - made) // each), 0)
        return max(min(most, int(min(self.left(run) / (each * run), most))), 0)
