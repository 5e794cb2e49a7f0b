"""How far a run is, with the live figures: a bar on a terminal, plain lines otherwise. Always on stderr."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

from testbed.units import show_time

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

LINE_EVERY = 5.0  # s of wall time between plain lines


class Progress:
    """Used by `testbed.run`; every method may be called at any time, in any order."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.total = 0.0
        self.wall_total = 0.0
        self._began = time.monotonic()
        self._last_line = float("-inf")
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def stage(self, text: str) -> None:
        """Say what is being done, outside the run proper."""
        if self._bar is not None:
            self._bar.console.print(text, highlight=False)
        else:
            print(text, file=self.stream, flush=True)

    def start(self, total_nominal_seconds: float, wall_seconds: float) -> None:
        """The run proper begins and is expected to take ``wall_seconds``."""
        self.total, self.wall_total = total_nominal_seconds, wall_seconds
        self._began = time.monotonic()
        if self.stream.isatty():
            self._start_bar()
        else:
            self.stage(f"running {show_time(total_nominal_seconds)} of rack time, about {wall_seconds:.0f} s")

    def update(
        self, nominal_now: float, utilisation: float, queue_seconds: float, rtt_seconds: float, note: str = ""
    ) -> None:
        """Show the live figures: utilisation as a ratio, queue and RTT in nominal seconds."""
        figures = (
            f"utilisation {utilisation:.0%}  queue {show_time(_rounded(queue_seconds))}  "
            f"RTT {show_time(_rounded(rtt_seconds))}{'  ' + note if note else ''}"
        )
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=min(nominal_now, self.total), figures=figures)
            return
        now = time.monotonic()
        if now - self._last_line >= LINE_EVERY:
            self._last_line = now
            share = nominal_now / self.total if self.total else 0.0
            left = max(0.0, self.wall_total - (now - self._began))
            self.stage(f"{share:4.0%}  {left:.0f} s left  {figures}")

    def finish(self) -> None:
        """Leave the terminal as it was."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:3.0f}%"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}"),
            console=Console(file=self.stream),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task("run", total=self.total, figures="")


def _rounded(seconds: float) -> float:
    """Three digits are enough for a glance."""
    return float(f"{seconds:.3g}")
