"""`fct` in the kernel's rack beside the virtual engine: docs/findings/tables/pet-fct-rack.csv.

    .venv/bin/python scripts/tuner_rack.py [FOLDER ...]     # of scripts/tuner_runs.py: keep what they have

A line per run is kept in docs/findings/results/pet-rack.csv, with its verdict. Changes and intervals are those of
`tuner_oracle.py`: ratios of rows with the same arrivals, Student's t over the seeds' logarithms.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from tuner_oracle import (
    COUNTS,
    FELT,
    NAMES,
    PUBLISHED,
    RUN,
    Line,
    by_cell,
    changes,
    filed,
    in_order,
    keep,
    kept,
    measured,
    percent,
    title,
)

KEPT = Path(__file__).resolve().parents[1] / "docs/findings/results/pet-rack.csv"
ENGINES = ("kernel", "virtual")
FEWEST = 6  # seeds of a figure
HEAD = ("engine", *RUN, *NAMES, *COUNTS, "duration", "verdict")


def line(file: Path) -> Line:
    one = np.load(file, allow_pickle=False)
    about = {name: str(one[name]) for name in ("engine", "duration", "verdict")}
    return measured(file) | about


def main(folders: list[str]) -> None:
    """Write the table: of the seeds that both engines have, and how many of the rack's runs were degraded."""
    if folders:
        keep(KEPT, HEAD, (line(file) for one in folders for file in Path(one).glob("*.npz")))
    lines = kept(KEPT)
    runs = {engine: by_cell(one for one in lines if one["engine"] == engine) for engine in ENGINES}
    rows = []
    for other in PUBLISHED:
        for cell in in_order(runs["kernel"]):
            seeds = set.intersection(*(set(runs[engine][cell][row]) for engine in ENGINES for row in ("fct", other)))
            if len(seeds) < FEWEST:
                continue
            both = []
            for engine in ENGINES:
                some = {cell: {row: {s: runs[engine][cell][row][s] for s in seeds} for row in ("fct", other)}}
                both.append(changes(some, cell, "fct", other)[:, FELT].T)
            rows.append([title(cell), other, str(len(seeds)), *map(percent, itertools.chain(*zip(*both, strict=True)))])
    felt = ("mice, mean", "mice, p99", "elephants, mean")
    filed(
        "pet-fct-rack",
        ["fct, %", "against", "seeds", *(f"{what}: {engine}" for what in felt for engine in ENGINES)],
        rows,
    )
    rack = [one["verdict"] for one in lines if one["engine"] == "kernel"]
    reasons = Counter(reason.partition(":")[0] for verdict in rack for reason in verdict.split("; "))
    print(
        f"Of {len(rack)} runs in the rack: " + ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    )


if __name__ == "__main__":
    main(sys.argv[1:])
