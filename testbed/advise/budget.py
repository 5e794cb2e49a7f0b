"""How long may be searched: until a moment, or for so many runs, with which the answer is the same on any machine."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from testbed.errors import BadInput
from testbed.units import TIME_UNITS, parse

MARGIN = 1.15  # of the time that the check is expected to take


@dataclass(frozen=True)
class Budget:
    """One of the two: a moment of `time.monotonic`, or a number of runs, of search and check together."""

    until: float | None
    runs: int | None

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
        return cls(time.monotonic() + seconds, None)

    def without(self, runs: int, seconds: float) -> Budget:
        """What is left for the search if so many runs come later, each so long."""
        until = None if self.until is None else self.until - MARGIN * runs * seconds
        return Budget(until, None if self.runs is None else self.runs - runs)

    def left(self, made: int, next_batch: int = 0) -> bool:
        """Whether a batch of so many more runs still fits after so many were made."""
        if self.runs is not None:
            return made + next_batch <= self.runs
        return self.until is not None and time.monotonic() < self.until
