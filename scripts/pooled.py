#!/usr/bin/env python3
"""Slowdowns of a comparison with all seeds together, and one row against the others with 95 % intervals.

A seed gives every row the same flows, so flows are drawn in pairs: one that is drawn is taken from both rows. It counts
where it finished in both. p99 of some hundred mice is the third worst; of all seeds together it says more.

    .venv/bin/python scripts/pooled.py FOLDER [ROW]     # of `testbed reproduce --out FOLDER`; ROW: PET if none is given
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from testbed.base.arrays import Floats
from testbed.experiment.topology.framing import Framing
from testbed.results.figures.fct import ELEPHANT, ideal_of, slowdowns
from testbed.results.folder import load
from testbed.results.measured import restore
from testbed.units import SIZE_UNITS, parse

DRAWS = 1000
Measure = Callable[[Floats], float]
P95, P99 = partial(np.quantile, q=0.95), partial(np.quantile, q=0.99)
MEASURES: list[tuple[str, float, float, Measure]] = [  # of flows above the first size, up to the second
    ("mice, mean", 0, ELEPHANT, np.mean),
    ("mice, p95", 0, ELEPHANT, P95),
    ("mice, p99", 0, ELEPHANT, P99),
    ("up to 10 kB, p99", 0, 10e3, P99),
    ("10 to 100 kB, p99", 10e3, 100e3, P99),
    ("100 kB to 1 MB, p99", 100e3, ELEPHANT, P99),
    ("elephants, mean", ELEPHANT, np.inf, np.mean),
]
Flows = tuple[Floats, Floats]  # size in bytes and slowdown (nan: did not finish), shape (n,)


def flows(folder: Path) -> Flows:
    """Of a run without INT (its room is not counted)."""
    run = load(folder)
    framing = Framing(round(parse(run.manifest.experiment["traffic"]["payload"], SIZE_UNITS, "a size")))
    table = restore(run).flows
    ideal = ideal_of(table, framing.payload, framing.wire_size)
    return table.size, slowdowns(table.finished - table.start, ideal)


def main(folder: Path, row: str) -> None:
    """Print a table per column."""
    found: dict[str, dict[str, dict[str, Flows]]] = defaultdict(lambda: defaultdict(dict))
    for file in sorted(folder.glob("*,*,seed=*/summary.json")):
        name, column, seed = file.parent.name.rsplit(",", 2)
        found[column][name][seed] = flows(file.parent)
    for column, rows in found.items():
        print(f"{column}: seeds {', '.join(seed.removeprefix('seed=') for seed in rows[row])}")
        mine = rows.pop(row)
        for other, seeds in rows.items():
            print(f"  {row} against {other}")
            compare(mine, seeds)


def compare(mine: dict[str, Flows], others: dict[str, Flows]) -> None:
    """Print every measure over the seeds that both have."""
    shared = sorted(mine.keys() & others.keys())
    here, there = (np.concatenate([one[seed][1] for seed in shared]) for one in (mine, others))
    size = np.concatenate([mine[seed][0] for seed in shared])
    both = np.isfinite(here) & np.isfinite(there)
    for what, least, most, of in MEASURES:
        part = both & (size > least) & (size <= most)
        print(f"    {what:20} {against(here[part], there[part], of)}")


def against(here: Floats, there: Floats, of: Measure) -> str:
    """Both values, and the difference in % with its 95 % interval."""
    rng = np.random.default_rng(1)
    drawn = rng.integers(len(here), size=(DRAWS, len(here)))
    change = [100 * (of(here[one]) / of(there[one]) - 1) for one in drawn]
    low, high = np.quantile(change, (0.025, 0.975))
    value = 100 * (of(here) / of(there) - 1)
    return f"{of(here):5.2f} {of(there):5.2f} {value:+5.1f} % ({low:+.1f}, {high:+.1f}) n={len(here)}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "PET")
