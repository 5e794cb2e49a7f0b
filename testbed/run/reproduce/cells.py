"""From a comparison to the runs that fill it: the cells of a sweep, each resolved and checked before any is run."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from testbed import registry
from testbed.errors import BadInput
from testbed.experiment.load import load
from testbed.results.papers.comparison import Column, Comparison, How, Settings
from testbed.results.sweep_plan import Cell
from testbed.run.sweep.grid import Combination


@dataclass(frozen=True)
class Place:
    """One run, and the place in the table that it is for."""

    row: str
    column: str
    cell: Cell


def places(comparison: Comparison, *, quick: bool = False, refused: list[str] | None = None) -> list[Place]:
    """Every run, row by row. One that could not run is named in ``refused``; without that list it raises BadInput."""
    found = []
    for row, how in implemented(comparison).items():
        for column, about in comparison.columns.items():
            if about.experiment and (not quick or column in comparison.quick.columns):
                try:
                    found += _repeats(comparison, row, column, how, quick)
                except (
                    BadInput
                ) as error:  # a plugin may be installed and still lack what it needs: a policy, a compiler
                    if refused is None:
                        raise
                    refused.append(str(error))
    return found


def implemented(comparison: Comparison) -> dict[str, How]:
    """The rows whose plugins are installed (or are files), and how they are run."""
    installed = {kind: {each.name for each in registry.available(kind)} for kind in ("controller", "tuner")}
    found = {}
    for name, row in comparison.rows.items():
        plugins = {"controller": row.here.controller, "tuner": row.here.tuner} if row.here else {}
        if row.here and all("/" in named or named in installed[kind] for kind, named in plugins.items()):
            found[name] = row.here
    return found


def _repeats(comparison: Comparison, row: str, column: str, how: How, quick: bool) -> list[Place]:
    experiment = comparison.columns[column].experiment
    plugins = {"controller": how.controller, "tuner": how.tuner}
    settings = texts(_settings(comparison, comparison.columns[column], how, quick))
    try:
        resolved = Combination(plugins, settings).resolve(load(experiment))
        if resolved.experiment.time.dilation == "auto":  # runs at different speeds, and nothing to repeat at twice that
            raise BadInput("time.dilation: a comparison needs a number, not 'auto'")
    except BadInput as error:
        raise BadInput(f"{comparison.name}, row {row}, column {column}: {error}") from None
    seeds = range(comparison.seed, comparison.seed + (comparison.quick.repeats if quick else comparison.repeats))
    cells = [Cell.of(resolved, experiment, plugins, settings, seed) for seed in seeds]
    return [Place(row, column, cell.model_copy(update={"name": _name(row, column, cell.seed)})) for cell in cells]


def _settings(comparison: Comparison, column: Column, how: How, quick: bool) -> Settings:
    """The later ones win: everywhere, this column, this row, quick."""
    return comparison.settings | column.settings | how.settings | (comparison.quick.settings if quick else {})


def texts(settings: Settings) -> dict[str, str]:
    """As for ``--set``: text as it is, anything else as YAML understands it."""
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in settings.items()}


def slower(cell: Cell, factor: float) -> Cell:
    """The same run at ``factor`` times its dilation. Raises BadInput if the links cannot be shaped to that."""
    dilation = float(cell.experiment["time"]["dilation"]) * factor
    settings = cell.settings | {"time.dilation": f"{dilation:g}"}
    resolved = Combination(cell.plugins, settings).resolve(load(cell.source))
    again = Cell.of(resolved, cell.source, cell.plugins, settings, cell.seed)
    return again.model_copy(update={"name": cell.name})


def cuts(comparison: Comparison) -> list[str]:
    """What `--quick` leaves out, in words."""
    quick, found = comparison.quick, []
    left_out = [
        column.label for name, column in comparison.columns.items() if column.experiment and name not in quick.columns
    ]
    if left_out:
        found.append(f"not run: {', '.join(left_out)}")
    if quick.repeats < comparison.repeats:
        runs = "1 run" if quick.repeats == 1 else f"{quick.repeats} runs"
        found.append(f"{runs} of every cell instead of {comparison.repeats}")
    found += [f"{key} {value} instead of {_without_quick(comparison, key)}" for key, value in quick.settings.items()]
    return [*found, "a degraded cell is not repeated slower"]


def _without_quick(comparison: Comparison, key: str) -> str:
    """What a setting would be in the cells that `--quick` keeps."""
    columns = [comparison.columns[name] for name in comparison.quick.columns if comparison.columns[name].experiment]
    rows = [row.here for row in comparison.rows.values() if row.here]
    every = [_settings(comparison, column, how, quick=False) for column in columns for how in rows]
    return " or ".join(dict.fromkeys(str(settings.get(key, "the usual")) for settings in every))


def _name(row: str, column: str, seed: int) -> str:
    plain = [re.sub(r"[^A-Za-z0-9._+=-]+", "-", part).strip("-.") for part in (row, column)]
    return ",".join([*plain, f"seed={seed}"])
