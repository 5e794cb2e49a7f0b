"""The verdict on a run, as results keep it: ``clean``, or ``degraded`` with reasons."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, computed_field

ENDED_EARLY = "the run ended early"


class Exit(IntEnum):
    """What a run's exit code says (1 and 2 come with the errors, see `testbed.errors`)."""

    CLEAN = 0
    DEGRADED = 3


class Reason(BaseModel):
    """One way in which the emulation distorted the run."""

    model_config = ConfigDict(frozen=True)

    what: str
    how_much: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}: {self.how_much}; {self.remedy}"


class Verdict(BaseModel):
    """The judgement on one run; clean if there is no reason against it."""

    model_config = ConfigDict(frozen=True)

    reasons: tuple[Reason, ...] = ()
    start: tuple[Reason, ...] = ()  # what was beyond its limit before the window; no figure that is given includes it

    @computed_field  # type: ignore[prop-decorator]
    @property
    def word(self) -> Literal["clean", "degraded"]:
        """``clean`` or ``degraded``."""
        return "degraded" if self.reasons else "clean"

    @property
    def lines(self) -> list[str]:
        """What a reader is told of it."""
        return [*map(str, self.reasons), *(f"in no figure: {one.what}: {one.how_much}" for one in self.start)]

    @property
    def exit_code(self) -> Exit:
        """0 or 3."""
        return Exit.DEGRADED if self.reasons else Exit.CLEAN

    def __str__(self) -> str:
        return ": ".join([self.word, *(["; also ".join(map(str, self.reasons))] if self.reasons else [])])
