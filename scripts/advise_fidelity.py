"""How well one run of an engine ranks thresholds, and what it costs: is the fluid engine a first fidelity for advice?

    python -m scripts.advise_fidelity websearch 16        # so many cells of its grid, by chance

Spearman's rank correlation of the figure of one run with the mean gain of the grid's draws (`scripts/advise_grid.py`).
"""

from __future__ import annotations

import sys
import time

import numpy as np

from scripts.advise_grid import CASES, CHECKS, DRAWS
from testbed.fidelity.verdict import judge
from testbed.live.observers import Observer
from testbed.results.summary import summarise
from testbed.runs.carrier import carrier
from testbed.runs.overrides import resolve
from tests.support.grids import GRIDS, Grid


def main(case: str, count: int) -> None:
    """Of each engine."""
    figure, length = CASES[case]
    grid = Grid(GRIDS / f"{case}.csv")
    cells = [grid.cells[one] for one in np.random.default_rng(1).permutation(len(grid.cells))[:count]]
    gains = [one.gain for one in grid.beside().stand(cells, range(DRAWS + CHECKS))]
    for name in ("fluid", "virtual"):
        began, found = time.process_time(), []
        for cell in cells:
            resolved = resolve(case, {}, {}, [length, f"engine={name}", "record.decisions=0", *cell])
            engine, observer = carrier(resolved.experiment.engine), Observer()
            engine.check(resolved)
            record = engine.follow(engine.prepare(resolved, observer), observer, [], case, [])
            summary = summarise(record, judge(record), experiment=case, controller=resolved.title)
            found.append(-float(getattr(summary, figure)))
        ranks = [np.argsort(np.argsort(each)) for each in (found, gains)]
        cost = (time.process_time() - began) / len(cells)
        print(f"{name}: rank correlation {np.corrcoef(ranks)[0, 1]:.2f}, {cost:.2f} s of CPU time per run")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
