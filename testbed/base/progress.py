"""How far something is: a bar on a terminal, plain lines otherwise. On stderr: stdout is for results."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress

log = logging.getLogger(__package__)


class Bar:
    """Every method may be called at any time, in any order."""

    def __init__(self, stream: TextIO | None = None, *, elapsed: bool = False) -> None:
        """``elapsed``: show the time that has passed, for who says how much is left."""
        self.stream = stream or sys.stderr
        self._elapsed = elapsed
        self._progress: Progress | None = None

    def start(self, total: float | None = None) -> None:
        """Show the bar, if there is a terminal; without a ``total`` it says only that something goes on."""
        if not self.stream.isatty() or log.isEnabledFor(logging.INFO) or self.shown:  # log lines would tear the bar
            return
        from rich import console, progress

        time = progress.TimeElapsedColumn() if self._elapsed else progress.TimeRemainingColumn()
        text = progress.TextColumn("{task.description}", markup=False)
        columns = (progress.BarColumn(bar_width=20), progress.TaskProgressColumn(), time, text)
        self._progress = progress.Progress(*columns, console=console.Console(file=self.stream), transient=True)
        self._progress.add_task("", total=total)
        self._progress.start()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def shown(self) -> bool:
        """Whether there is a bar."""
        return self._progress is not None

    def update(self, done: float, text: str = "", total: float | None = None) -> None:
        """Move the bar; ``text`` stands beside it."""
        if self._progress is not None:
            task = self._progress.task_ids[0]
            self._progress.update(task, completed=done, description=text, total=total)

    def say(self, text: str) -> None:
        """A line of its own, above the bar."""
        if self._progress is not None:
            self._progress.console.print(text, highlight=False, markup=False, soft_wrap=True)
        else:
            print(text, file=self.stream, flush=True)

    def stop(self) -> None:
        """Leave the terminal as it was."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


def clock(seconds: float) -> str:
    """Wall time for a glance: ``45 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02} min"
