"""The runs of a comparison as a small file to keep: a line of CSV per run, with the figures behind its table, in SI.

    row,column,seed,engine,verdict,unrest,su,ql_mean
    A,64,1,virtual,clean,,0.998,9.7e-06

`unrest` is that of the summary: what drifted in the window, empty at rest, and `?` of runs that were not asked.

`testbed reproduce --format csv` writes it; the pages of docs/findings are made of such files.
"""

from __future__ import annotations

import csv
import io
import math
from typing import Any

from testbed.errors import BadInput
from testbed.results.papers.cells import Measured
from testbed.results.papers.comparison import Comparison
from testbed.results.summary import Summary
from testbed.results.verdict import Reason, Verdict

CLEAN = "clean"
HEAD = ("row", "column", "seed", "engine", "verdict", "unrest")


def fields(comparison: Comparison) -> list[str]:
    """The figures of summary.json behind the metrics."""
    named = [name for metric in comparison.metrics.values() for name in (metric.field, metric.per) if name]
    return list(dict.fromkeys(named))


def to_csv(comparison: Comparison, measured: Measured) -> str:
    """All runs, in the order of the table; what is not known is empty. Seven digits: a table shows four."""
    wanted = fields(comparison)
    told = io.StringIO()
    writer = csv.writer(told, lineterminator="\n")
    writer.writerow([*HEAD, *wanted])
    for row in comparison.rows:
        for column in comparison.columns:
            for seed, one in sorted(measured.of(row, column).items()):
                figures = [float(getattr(one, name)) for name in wanted]
                shown = ["" if math.isnan(value) else f"{value:.7g}" for value in figures]
                writer.writerow([row, column, seed, one.engine, _word(one.verdict), one.unrest, *shown])
    return told.getvalue()


def from_csv(comparison: Comparison, content: str) -> Measured:
    """The reverse. Raises BadInput for the runs of another comparison."""
    lines = csv.DictReader(io.StringIO(content))
    expected = [*HEAD, *fields(comparison)]
    if lines.fieldnames != expected:
        raise BadInput(f"{comparison.name}: expected runs with {', '.join(expected)}")
    found = Measured()
    for line in lines:
        row, column = line["row"], line["column"]
        if row not in comparison.rows or column not in comparison.columns:
            raise BadInput(f"{comparison.name} has no row {row} with a column {column}; run it again")
        known: dict[str, Any] = {name: float(line[name] or math.nan) for name in fields(comparison)}
        known |= {"verdict": _verdict(line["verdict"])} | {name: line[name] for name in ("engine", "unrest")}
        summary = Summary.model_construct(**known)
        found.summaries.setdefault((row, column), {})[int(line["seed"])] = summary
    return found


def _word(verdict: Verdict) -> str:
    return "; ".join(f"{one.what}: {one.how_much}" for one in verdict.reasons) or CLEAN


def _verdict(said: str) -> Verdict:
    return Verdict() if said == CLEAN else Verdict(reasons=(Reason(what=said, how_much="", remedy=""),))
