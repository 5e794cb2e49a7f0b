"""Runs a comparison's cells with the sweep's runner, and reads back what is there.

    FOLDER/ROW,COLUMN,seed=1/         one run
    FOLDER/slower/ROW,COLUMN,seed=1/  the same again at a higher dilation, if the first one was degraded

A finished run is not run again. Whatever is in the folder fills the table, however the last command ended.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from testbed.errors import BadInput
from testbed.results import folder as results
from testbed.results.papers.cells import Measured, TableCell
from testbed.results.summary import Summary
from testbed.results.sweep_plan import Cell, Plan
from testbed.runs.reproduce.cells import slower
from testbed.runs.sweep.hire import Wanted
from testbed.runs.sweep.progress import SweepProgress
from testbed.runs.sweep.runner import CellOutcome, Runner, alone, released

SLOWER, FACTOR = "slower", 2.0  # a degraded cell is repeated at twice its dilation
ORDER_SEED = 1


def run(folder: Path, table_cells: Sequence[TableCell], *, again: bool, workers: Wanted) -> Measured:
    """Run what has no results yet; ``again``: and then what the kernel was too slow for, or refused, slower."""
    measured = Measured()
    cells = [one.run for one in table_cells]
    _runs(folder, cells, measured, workers)
    if again and not measured.interrupted:
        timed = [cell for cell in cells if cell.in_kernel]
        bad = [cell for cell in timed if cell.name in measured.failures or _is_degraded(folder, cell)]
        repeated = list(_slower(bad, measured.refused))
        if repeated:
            where = folder / SLOWER
            print(f"{len(repeated)} not clean: again at {FACTOR:g} times the dilation, in {where}", file=sys.stderr)
            _runs(where, repeated, measured, workers)
    return measured


def _slower(cells: Sequence[Cell], refused: list[str]) -> Iterator[Cell]:
    """The same runs at a higher dilation; one that the links cannot be shaped to is named in ``refused``."""
    for cell in cells:
        try:
            yield slower(cell, FACTOR)
        except BadInput as error:
            refused.append(f"{cell.name} again, slower: {error}")


def _runs(folder: Path, cells: Sequence[Cell], measured: Measured, workers: Wanted) -> None:
    plan = Plan.make(cells, ORDER_SEED, sys.argv)
    hired = workers.hire(plan)
    if not Plan.is_in(folder):
        plan.write(folder)
    runner = Runner(folder, plan, hired, SweepProgress(plan.cells))
    with alone(folder), released(hired):
        outcomes: list[CellOutcome] = runner.run()
    for one in outcomes:
        measured.failures.pop(one.cell, None)
        if one.word == "failed":
            measured.failures[one.cell] = one.why
    measured.interrupted = measured.interrupted or runner.interrupted


def _is_degraded(folder: Path, cell: Cell) -> bool:
    summary = _summary(folder, cell)
    return summary is not None and summary.verdict.word != "clean"


def collect(folder: Path, table_cells: Sequence[TableCell], measured: Measured | None = None) -> Measured:
    """Read what is there. Raises BadInput for a folder that holds another run than its name says."""
    measured = measured or Measured()
    for one in table_cells:
        found = _summary(folder / SLOWER, one.run, slower) or _summary(folder, one.run)
        if found is not None:
            measured.summaries.setdefault((one.row, one.column), {})[one.run.seed] = found
    return measured


def _summary(folder: Path, cell: Cell, change: Callable[[Cell, float], Cell] | None = None) -> Summary | None:
    path = folder / cell.name
    if not (path / results.SUMMARY).is_file():
        return None
    wanted = change(cell, FACTOR) if change else cell
    if not wanted.matches(results.load_manifest(path)):
        raise BadInput(
            f"{path} holds another run than this comparison's (its settings or a plugin's code have changed); "
            "name another folder with --out, or move it away"
        )
    return results.load_summary(path)


def prepare(out: Path | None, name: str) -> Path:
    """The folder of a comparison: one that was begun, or a new one. Raises BadInput for anything else."""
    if out is not None and Plan.is_in(out.expanduser()):
        return out.expanduser().resolve()
    return results.prepare(out, f"{name}-reproduce")


def selected(table_cells: Sequence[TableCell], rows: Sequence[str], columns: Sequence[str]) -> list[TableCell]:
    """The table_cells of some rows and columns; empty for all of them."""
    of_rows = [one for one in table_cells if not rows or one.row in rows]
    return [one for one in of_rows if not columns or one.column in columns]
