"""Where the cells of a sweep run: processes of this machine (`processes`), or the nodes of a Ray cluster (`cluster`).

Both run a cell as the command line would, in a process of its own, so that none can hurt the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # nodes of a cluster import this
    from testbed.results.sweep_plan import Cell

POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Job:
    """A cell that is to run: its results go to ``path``, what it says to ``log``; both are not there yet."""

    cell: Cell
    path: Path
    log: Path
    directory: str  # where the sweep was asked for; the cell's options may name files from there


@dataclass(frozen=True)
class Ended:
    """A job whose process has ended; ``status`` is its exit code, ``seconds`` of wall time it took."""

    job: Job
    status: int
    seconds: float


class Workers(Protocol):
    """What the runner asks of them."""

    @property
    def at_once(self) -> int:
        """How many cells run at the same time, about."""

    @property
    def free(self) -> bool:
        """Whether to hand over one more."""

    @property
    def busy(self) -> bool:
        """Whether a job has not been handed back."""

    @property
    def doing(self) -> str:
        """What runs now, for the progress."""

    def start(self, job: Job) -> None:
        """Take one. Raises TestbedError if it cannot be started."""

    def ended(self) -> list[Ended]:
        """Those that have ended since the last call."""

    def interrupt(self) -> None:
        """Ctrl-C: what runs ends early, at the second call at once."""

    def close(self) -> None:
        """The end: nothing runs on, even if something raised."""
