"""The cells of a published table: which can be run here, and with which settings."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from testbed import registry
from testbed.results.papers.comparison import Column, Comparison, How, Settings
from testbed.results.summary import Summary
from testbed.results.sweep_plan import Cell


@dataclass(frozen=True)
class TableCell:
    """One run, and the row and column of the table that it is for."""

    row: str
    column: str
    run: Cell


NOT_ASKED = "?"  # of a run that was kept before anybody asked whether it was at rest


@dataclass
class Measured:
    """The runs that are there, by row and column; of a repeated one the repetition."""

    summaries: dict[tuple[str, str], dict[int, Summary]] = field(default_factory=dict)  # each by its seed
    failures: dict[str, str] = field(default_factory=dict)  # cell to why
    refused: list[str] = field(default_factory=list)  # what could not even be tried, and why
    interrupted: bool = False

    def of(self, row: str, column: str) -> dict[int, Summary]:
        """The runs of one row in one column, by seed."""
        return self.summaries.get((row, column), {})

    def restless(self, row: str, column: str) -> list[str]:
        """What drifted in the windows of those of them that were not at rest."""
        return [one.unrest for one in self.of(row, column).values() if one.unrest not in ("", NOT_ASKED)]

    def degraded(self, row: str, column: str) -> list[Summary]:
        """Those of them whose verdict is not clean."""
        return [summary for summary in self.of(row, column).values() if summary.verdict.word != "clean"]


def implemented(comparison: Comparison) -> dict[str, How]:
    """The rows whose plugins are installed (or are files), and how they are run."""
    installed = {kind: registry.names(kind) for kind in ("controller", "tuner")}
    found = {}
    for name, row in comparison.rows.items():
        plugins = {"controller": row.here.controller, "tuner": row.here.tuner} if row.here else {}
        if row.here and all("/" in named or named in installed[kind] for kind, named in plugins.items()):
            found[name] = row.here
    return found


def settings_of(comparison: Comparison, column: Column, how: How, quick: bool) -> Settings:
    """The later ones win: everywhere, this column, this row, quick."""
    return comparison.settings | column.settings | how.settings | (comparison.quick.settings if quick else {})


def texts(settings: Settings) -> dict[str, str]:
    """As for ``--set``: text as it is, anything else as YAML understands it."""
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in settings.items()}


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
    every = [settings_of(comparison, column, how, quick=False) for column in columns for how in rows]
    return " or ".join(dict.fromkeys(str(settings.get(key, "the usual")) for settings in every))
