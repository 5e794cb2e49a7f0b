"""The full grid of thresholds of a shipped case, kept as data: what `testbed advise` is held against.

    python scripts/advise_grid.py websearch        # writes tests/advise/grids/websearch.csv, or goes on with it

A line per cell: Kmin, Kmax, Pmax, and of each draw its objective and its goodput. The first draws are those that a
search has, the others those of a check. The first line is the present configuration.
"""

from __future__ import annotations

import csv
import os
import sys
from itertools import product
from pathlib import Path

import numpy as np

from testbed.advise.evidence import Ask, Evidence, Found, Settings, virtual
from testbed.advise.knob import Knob, ordered
from testbed.advise.question import Question, Task

GRIDS = Path(__file__).resolve().parents[1] / "tests" / "advise" / "grids"
CASES = {  # objective, and length of a run
    "websearch": ("slowdown_short_p99", "time.duration=12 ms"),
    "incast-16": ("ql_p99", "time={duration: 5 ms, warmup: 2 ms}"),
    "websearch-leaf-spine": ("slowdown_short_p99", "time.duration=6 ms"),
}
STEPS = {"kmin": 8, "kmax": 6}
PMAX = (0.02, 0.1, 0.4, 1.0)
DRAWS, CHECKS = 4, 6


def main(case: str) -> None:
    """Run all cells and write them."""
    objective, length = CASES[case]
    task = Task.of(Question(traffic=(case,), objective=objective, settings=(length,), draws=DRAWS), Path())
    evidence = Evidence(virtual(task.workloads, len(os.sched_getaffinity(0))))
    draws = [*task.search_draws, *task.check_draws[:CHECKS]]
    GRIDS.mkdir(parents=True, exist_ok=True)
    evidence.of([Ask(task.names[0], draws[0])])  # alone: in this process, which loads what forks need
    target = GRIDS / f"{case}.csv"
    had = target.read_text(encoding="utf-8").count("\n") if target.exists() else 0
    with target.open("a", newline="", encoding="utf-8") as file:
        sink = csv.writer(file, lineterminator="\n")
        if not had:
            named = [f"{what}{number}" for number in range(len(draws)) for what in (objective, "goodput")]
            sink.writerow(["kmin", "kmax", "pmax", *named])
        for cell in [(), *cells(task.knobs)][max(had - 1, 0) :]:
            found = evidence.of([Ask(task.names[0], draw, cell) for draw in draws])
            sink.writerow([*(one.split("=")[1] for one in cell or ("=", "=", "=")), *values(found, objective)])
            file.flush()


def cells(knobs: list[Knob]) -> list[Settings]:
    """All in which Kmax is not below Kmin."""
    texts = [
        [knob.text(value) for value in (PMAX if knob.kind == "ratio" else np.geomspace(knob.low, knob.high, steps))]
        for knob, steps in zip(knobs, (*STEPS.values(), len(PMAX)), strict=True)
    ]
    every = [tuple(f"{knob.key}={text}" for knob, text in zip(knobs, one, strict=True)) for one in product(*texts)]
    return [one for one in every if ordered(one) == one]


def values(found: list[Found], objective: str) -> list[str]:
    """Four digits of each; empty where a run failed."""
    return [f"{one.figures[name]:.4g}" if one.figures else "" for one in found for name in (objective, "goodput")]


if __name__ == "__main__":
    main(sys.argv[1])
