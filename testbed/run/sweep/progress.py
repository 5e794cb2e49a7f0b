"""How far a sweep is: a bar on a terminal, a line per cell otherwise. Always on stderr."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TextIO

from testbed.results.sweep_plan import Cell

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


class SweepProgress:
    """Cells done and in all, the time left, and what is running. Expected times are scaled by those that it took."""

    def __init__(self, cells: Sequence[Cell], jobs: int, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.left = {cell.name: cell.seconds for cell in cells}
        self.total = len(cells)
        self.jobs = jobs
        self._expected = self._took = 0.0  # of the cells that were run here
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def start(self, already: int) -> None:
        """``already`` cells were there from before."""
        if self.stream.isatty():
            self._start_bar()
        if already:
            self.say(f"{already} of {self.total} cells are there already")

    def running(self, cells: Collection[str]) -> None:
        """These are running now."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, cells=" ".join(cells), time_left=self._shown_time())
        elif cells:
            print(f"[{self.done + 1}/{self.total}] {' '.join(cells)}{self._shown_time()}", file=self.stream, flush=True)

    def finished(self, cell: Cell, seconds: float | None, outcome: str) -> None:
        """A cell is done, after ``seconds`` of wall time (None: it was there), with a word on it."""
        self.left.pop(cell.name, None)
        if seconds is not None:
            self._expected += cell.seconds or seconds
            self._took += seconds
            self.say(f"{cell.name}: {outcome}, {seconds:.0f} s")
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self.done, time_left=self._shown_time())

    def say(self, text: str) -> None:
        """A line of its own."""
        if self._bar is not None:
            self._bar.console.print(text, highlight=False, markup=False, soft_wrap=True)
        else:
            print(text, file=self.stream, flush=True)

    def finish(self) -> None:
        """Leave the terminal as it was."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    @property
    def done(self) -> int:
        """How many cells are."""
        return self.total - len(self.left)

    def _shown_time(self) -> str:
        known = [seconds for seconds in self.left.values() if seconds is not None]
        if len(known) < len(self.left) or not known:  # dilation: auto is measured only when it runs
            return ""
        slower = self._took / self._expected if self._expected else 1.0
        return f", about {clock(sum(known) * slower / self.jobs)} left"

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[cells]}{task.fields[time_left]}", markup=False),
            console=Console(file=self.stream),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task("sweep", total=self.total, cells="", time_left="", completed=self.done)


def clock(seconds: float) -> str:
    """Wall time for a glance: ``45 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02} min"
