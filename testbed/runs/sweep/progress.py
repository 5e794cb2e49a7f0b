"""How far a sweep is: a bar on a terminal, a line per cell otherwise. Always on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from testbed.base.progress import Bar, clock
from testbed.results.sweep_plan import Cell


class SweepProgress:
    """Cells done and in all, the time left, and what is running. Expected times are scaled by those that it took."""

    def __init__(self, cells: Sequence[Cell], stream: TextIO | None = None) -> None:
        self.bar = Bar(stream, elapsed=True)
        self.left = {cell.name: cell.seconds for cell in cells}
        self.total = len(cells)
        self.at_once = 1
        self._expected = self._took = 0.0  # of the cells that were run here
        self._running = ""

    def start(self, already: int) -> None:
        """``already`` cells were there from before."""
        self.bar.start(self.total)
        self._move()
        if already:
            self.bar.say(f"{already} of {self.total} cells are there already")

    def running(self, doing: str, at_once: int) -> None:
        """What runs now, and how many cells run at the same time."""
        news = doing != self._running
        self._running, self.at_once = doing, at_once
        self._move()
        if news and not self.bar.shown:
            self.bar.say(f"[{self.done + 1}/{self.total}] {self._running}{self._shown_time()}")

    def finished(self, cell: Cell, seconds: float | None, outcome: str) -> None:
        """A cell is done, after ``seconds`` of wall time (None: it was there), with a word on it."""
        self.left.pop(cell.name, None)
        if seconds is not None:
            self._expected += cell.seconds or seconds
            self._took += seconds
            self.bar.say(f"{cell.name}: {outcome}, {seconds:.0f} s")
        self._move()

    def finish(self) -> None:
        """Leave the terminal as it was."""
        self.bar.stop()

    @property
    def done(self) -> int:
        """How many cells are."""
        return self.total - len(self.left)

    def _move(self) -> None:
        self.bar.update(self.done, f"{self.done}/{self.total} {self._running}{self._shown_time()}")

    def _shown_time(self) -> str:
        known = [seconds for seconds in self.left.values() if seconds is not None]
        if len(known) < len(self.left) or not known:  # dilation: auto is measured only when it runs
            return ""
        slower = self._took / self._expected if self._expected else 1.0
        return f", about {clock(sum(known) * slower / self.at_once)} left"
