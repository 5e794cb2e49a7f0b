"""Jobs as ASTRA-sim prints them: when each rank was done, and for how long it did not compute, in ns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from testbed.errors import BadInput
from testbed.results import folder
from testbed.results.tables import STEPS

NS = 1e9


def astra(run: Path) -> Iterator[str]:
    """A line per rank; of several jobs each after its name."""
    if not (run / STEPS).is_file():
        raise BadInput(f"{run} has no jobs; expected a run of ranks that compute and wait, such as pattern: training")
    rows = folder.read_table(run / STEPS).to_pylist()
    jobs = list(dict.fromkeys(row["job"] for row in rows))
    for job in jobs:
        own = [row for row in rows if row["job"] == job]
        begun = min(row["begin"] for row in own)
        for rank in sorted({row["rank"] for row in own}):
            steps = [row for row in own if row["rank"] == rank]
            done = max(row["begin"] + row["length"] for row in steps) - begun
            computed = sum(row["length"] for row in steps if row["kind"] == "compute")
            name = f"{job} " if len(jobs) > 1 else ""
            exposed = max(done - computed, 0.0)
            yield (
                f"{name}sys[{rank}] finished, {done * NS:.0f} cycles, exposed communication {exposed * NS:.0f} cycles."
            )
