"""From a comparison to the runs that fill it: the cells of a sweep, each resolved and checked before any is run."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from testbed.errors import BadInput
from testbed.experiment import meaningless
from testbed.experiment.load import Loaded, load
from testbed.results.papers.cells import TableCell, implemented, settings_of, texts
from testbed.results.papers.comparison import Comparison, How
from testbed.results.sweep_plan import Cell
from testbed.runs.sweep.grid import Combination

# A table needs neither, and they take longer than a short run.
BARE = {"record.report": "false", "record.decisions": "0"}


def table_cells(
    comparison: Comparison, *, quick: bool = False, refused: list[str] | None = None, engine: str = ""
) -> list[TableCell]:
    """Every run, row by row. One that could not run is named in ``refused``; without that list it raises BadInput.

    ``engine``, if not the experiments' own: another one than the kernel ignores settings that are about the kernel.
    """
    found = []
    once = cache(load)  # each file; a table has many runs of one
    for row, how in implemented(comparison).items():
        for column, about in comparison.columns.items():
            if about.experiment and (not quick or column in comparison.quick.columns):
                try:
                    found += _repeats(comparison, row, column, how, quick, engine, once)
                except BadInput as error:  # a plugin may lack what it needs, though: a policy, a compiler
                    if refused is None:
                        raise
                    refused.append(str(error))
    return found


def in_kernel(comparison: Comparison, *, quick: bool = False, engine: str = "") -> bool:
    """Whether any run is, without making their controllers, which may take seconds. Raises BadInput."""
    own = {
        settings_of(comparison, column, how, quick).get("engine")
        or load(column.experiment).document.data.get("engine", "kernel")
        for how in implemented(comparison).values()
        for column in comparison.columns.values()
        if column.experiment and not engine
    }
    return "kernel" in (own or {engine})


def _repeats(  # noqa: PLR0917 - all of them make the cell
    comparison: Comparison,
    row: str,
    column: str,
    how: How,
    quick: bool,
    engine: str,
    once: Callable[[str], Loaded],
) -> list[TableCell]:
    experiment = comparison.columns[column].experiment
    plugins = {"controller": how.controller, "tuner": how.tuner}
    settings = BARE | texts(settings_of(comparison, comparison.columns[column], how, quick))
    if engine:
        settings = (settings if engine == "kernel" else meaningless.without(settings)) | {"engine": engine}
    try:
        resolved = Combination(plugins, settings).resolve(once(experiment))
        timed = resolved.experiment.engine == "kernel"
        if timed and resolved.experiment.time.dilation == "auto":  # many speeds, and nothing to repeat at half of it
            raise BadInput("time.dilation: a comparison needs a number, not 'auto'")
    except BadInput as error:
        raise BadInput(f"{comparison.name}, row {row}, column {column}: {error}") from None
    seeds = range(comparison.seed, comparison.seed + (comparison.quick.repeats if quick else comparison.repeats))
    one = Cell.of(resolved, experiment, plugins, settings, comparison.seed)
    cells = [one.repeated(seed) for seed in seeds]
    return [TableCell(row, column, cell.model_copy(update={"name": _name(row, column, cell.seed)})) for cell in cells]


def slower(cell: Cell, factor: float) -> Cell:
    """The same run at ``factor`` times its dilation. Raises BadInput if the links cannot be shaped to that."""
    dilation = float(cell.experiment["time"]["dilation"]) * factor
    settings = cell.settings | {"time.dilation": f"{dilation:g}"}
    resolved = Combination(cell.plugins, settings).resolve(load(cell.source))
    again = Cell.of(resolved, cell.source, cell.plugins, settings, cell.seed)
    return again.model_copy(update={"name": cell.name})


def _name(row: str, column: str, seed: int) -> str:
    plain = [re.sub(r"[^A-Za-z0-9._+=-]+", "-", part).strip("-.") for part in (row, column)]
    return ",".join([*plain, f"seed={seed}"])
