#!/usr/bin/env python3
"""Slowdowns of a comparison with all seeds together, and one row against the others with 95 % intervals.

A seed gives every row the same flows, so flows are drawn in pairs: one that is drawn is taken from both rows. It counts
where it finished in both. p99 of some hundred mice is the third worst; of all seeds together it says more.

    .venv/bin/python scripts/pooled.py FOLDER [ROW]     # of `testbed bench --out FOLDER`; ROW: PET if none is given
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from testbed.controller import Floats
from testbed.dataplane.wire import Framing
from testbed.report.folder import load
from testbed.report.metrics.fct import ELEPHANT
from testbed.units import SIZE_UNITS, parse

DRAWS = 1000
Measure = Callable[[Floats], float]
MEASURES: list[tuple[str, float, float, Measure]] = [  # of flows above the first size, up to the second
    ("mice, mean", 0, ELEPHANT, np.mean),
    ("mice, p95", 0, ELEPHANT, lambda one: np.quantile(one, 0.95)),
    ("mice, p99", 0, ELEPHANT, lambda one: np.quantile(one, 0.99)),
    ("up to 10 kB, p99", 0, 10e3, lambda one: np.quantile(one, 0.99)),
    ("10 to 100 kB, p99", 10e3, 100e3, lambda one: np.quantile(one, 0.99)),
    ("100 kB to 1 MB, p99", 100e3, ELEPHANT, lambda one: np.quantile(one, 0.99)),
    ("elephants, mean", ELEPHANT, np.inf, np.mean),
]
Flows = tuple[Floats, Floats]  # size in bytes and slowdown (nan: did not finish), shape (n,)


def flows(folder: Path) -> Flows:
    """Of a run without INT (its room is not counted)."""
    run = load(folder)
    payload = parse(run.manifest.experiment["traffic"]["payload"], SIZE_UNITS, "a size")
    wanted = ("size", "start", "finished", "base_rtt", "path_rate")
    columns = {name: run.tables["flows"][name].to_numpy() for name in wanted}
    wire = columns["size"] + np.ceil(columns["size"] / payload) * Framing(round(payload)).overhead
    ideal = columns["base_rtt"] + 8 * wire / columns["path_rate"]
    return columns["size"], np.maximum((columns["finished"] - columns["start"]) / ideal, 1.0)


def main(folder: Path, row: str) -> None:
    """Print a table per column."""
    found: dict[str, dict[str, dict[str, Flows]]] = defaultdict(lambda: defaultdict(dict))
    for file in sorted(folder.glob("*,*,seed=*/summary.json")):
        name, column, seed = file.parent.name.rsplit(",", 2)
        found[column][name][seed] = flows(file.parent)
    for column, rows in found.items():
        print(f"{column}: seeds {', '.join(seed.removeprefix('seed=') for seed in rows[row])}")
        for other, seeds in rows.items():
            if other == row:
                continue
            shared = sorted(seeds.keys() & rows[row].keys())
            here, there = (np.concatenate([one[seed][1] for seed in shared]) for one in (rows[row], seeds))
            size = np.concatenate([seeds[seed][0] for seed in shared])
            both = np.isfinite(here) & np.isfinite(there)
            print(f"  {row} against {other}")
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
