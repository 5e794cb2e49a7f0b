"""Jobs under all controllers, as docs/findings/tables/jobs.csv.

    .venv/bin/python scripts/jobs.py FOLDER      # of the runs of docs/findings/jobs.md

Each job of `TABLES` has a folder in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from tuner_oracle import filed

from testbed.results.folder import load_summary
from testbed.results.summary import Summary

Figure = tuple[str, int, Callable[[Summary], float]]  # name, digits, in that unit
Runs = dict[str, dict[str, Summary]]  # by controller and seed
PAIRS, NEW = ", per-pair", "of that of new flows"
CONTROLLERS = {"dcqcn,window=bdp": "dcqcn", "dcqcn,window=none": "dcqcn, no window"} | {
    name: name for name in ("swift", "hpcc", "powertcp", "nscc")
}
DROPS: Figure = ("drops", 0, lambda run: run.drops)


def of(name: str, figure: str, digits: int, unit: float = 1.0, job: int = 0) -> Figure:
    """A figure of a run's first job, or another."""
    return name, digits, lambda run: getattr(run.jobs[job], figure) / unit


def queue(digits: int) -> Figure:
    return "QL p99, us", digits, lambda run: run.ql_p99 * 1e6


BUS, STRAGGLER = of("bus bandwidth, Gbit/s", "bus_bandwidth", 1, 1e9), of("straggler", "straggler", 2)
RING, EXPERTS = of("iteration, ms", "iteration", 1, 1e-3), of("iteration, us", "iteration", 0, 1e-6)
TABLES = {
    "allreduce-16": (RING, BUS, queue(0), DROPS),
    "alltoall-moe-32": (EXPERTS, BUS, STRAGGLER, queue(0)),
    "two-jobs": (
        of("iteration of one, ms", "iteration", 2, 1e-3),
        of("iteration of two, ms", "iteration", 2, 1e-3, job=1),
        of("interference of one", "interference", 2),
        of("interference of two", "interference", 2, job=1),
    ),
    "incast-storage": (
        of("iteration, ms", "iteration", 2, 1e-3),
        of("p99, ms", "iteration_p99", 2, 1e-3),
        of("interference", "interference", 3),
        DROPS,
    ),
    f"allreduce-16{PAIRS}": (RING,),
    f"alltoall-moe-32{PAIRS}": (EXPERTS, STRAGGLER),
}


def runs(folder: Path) -> Runs:
    """Of a folder whose runs are named as those of a sweep."""
    return {
        told: {path.name.rpartition("seed=")[2]: load_summary(path) for path in sorted(folder.glob(f"{name},seed=*"))}
        for name, told in CONTROLLERS.items()
    }


def lines(job: str, found: Runs, new: Runs) -> Iterator[list[str]]:
    """Median, least and most of each figure; of queue pairs that go on, how much longer than with `new` flows."""
    for controller, by_seed in found.items():
        for name, digits, figure in TABLES[job]:
            yield [job, controller, name, *spread([figure(run) for run in by_seed.values()], digits)]
        if job.endswith(PAIRS):
            longer = [run.jobs[0].iteration / new[controller][seed].jobs[0].iteration for seed, run in by_seed.items()]
            yield [job, controller, NEW, *spread(longer, 2)]


def spread(values: list[float], digits: int) -> list[str]:
    return [f"{one:.{digits}f}" for one in (np.median(values), min(values), max(values))]


def main(folder: Path) -> None:
    """Write the file."""
    every = {job: runs(folder / job.replace(", ", "-")) for job in TABLES}
    told = [line for job, found in every.items() for line in lines(job, found, every.get(job.removesuffix(PAIRS), {}))]
    filed("jobs", ("job", "controller", "figure", "median", "least", "most"), told)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
