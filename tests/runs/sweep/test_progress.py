"""What a sweep shows while it goes on."""

from __future__ import annotations

import io
from pathlib import Path

from testbed.results.sweep_plan import Plan
from testbed.runs.sweep.progress import SweepProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_lines(begun: tuple[Path, Plan]) -> None:
    cells = [cell.model_copy(update={"seconds": 100.0}) for cell in begun[1].cells]
    said = io.StringIO()
    progress = SweepProgress(cells, said)
    progress.start(already=0)
    progress.running(cells[0].name, 1)
    progress.finished(cells[0], 200.0, "clean")  # twice as long as was expected, so the others will be, too
    progress.running(cells[1].name, 1)
    progress.finish()
    assert said.getvalue().splitlines() == [
        "[1/4] dcqcn,seed=1, about 7 min left",
        "dcqcn,seed=1: clean, 200 s",
        "[2/4] dcqcn,seed=2, about 10 min left",
    ]


def test_bar_on_a_terminal(begun: tuple[Path, Plan]) -> None:
    cells = begun[1].cells
    said = Terminal()
    progress = SweepProgress(cells, said)
    progress.running(cells[0].name, 1)  # before the start: no harm
    progress.start(already=1)
    progress.finished(cells[0], None, "clean")
    progress.running(cells[1].name, 1)
    progress.finished(cells[1], 30.0, "[degraded]")
    progress.finish()
    progress.finish()
    assert "2/4" in said.getvalue()
    assert "dcqcn,seed=2: [degraded], 30 s" in said.getvalue()
    assert "\x1b[?25h" in said.getvalue()  # the cursor is back
