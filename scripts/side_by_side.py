"""All controllers in the same runs: the first table of docs/findings/controllers.md, without its last column.

    .venv/bin/python scripts/side_by_side.py [CONTROLLER ...]

Medians of six seeds. Of all controllers, docs/findings/tables/side-by-side.csv gets the intervals, too.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence

import numpy as np
from tuner_oracle import filed

import testbed
from testbed.registry import names
from testbed.results.summary import Summary

INCASTS, RECOVERY = ("incast-2", "incast-16", "incast-128"), "long-short"
SEEDS = range(1, 7)
FORMS = ("adpg-int8", "adpg-nn", "decc-nn", "decc-quantised", "evolved", "fixed")  # of another row, or of no source
MARKED = {name: {"tuner.preset": "secn1"} for name in ("dcqcn", "rtt-template")} | {
    name: {"tuner.preset": name} for name in ("dctcp", "nscc")
}
QUEUE, RECOVERED = "QL mean, us", "recovery, us"
FIGURES = {"SU, %": 1, "FR, %": 0, QUEUE: 2, "QL p99, us": 1, "drops": 0, RECOVERED: 0}  # digits
Found = dict[str, list[float]]  # by figure, a number per seed


def main(controllers: list[str]) -> None:
    """Run, print, and keep what is of all controllers."""
    print("| | queue | with 128: SU, FR, drops | recovery |\n|---|---:|---:|---:|")
    lines = []
    for controller in controllers or sorted(set(names("controller")) - set(FORMS)):
        found = {one: incast([summary(one, controller, seed) for seed in SEEDS]) for one in INCASTS}
        found[RECOVERY], back = recovery([summary(RECOVERY, controller, seed) for seed in SEEDS])
        for experiment, figures in found.items():
            lines.append([controller, experiment, *(spread(name, figures.get(name, [])) for name in FIGURES)])
        queues = ", ".join(median(QUEUE, found[one][QUEUE]) for one in INCASTS)
        largest = ", ".join(median(name, found[INCASTS[-1]][name]) for name in ("SU, %", "FR, %", "drops"))
        print(f"| `{controller}` | {queues} | {largest} | {back} |", flush=True)
    if not controllers:
        filed("side-by-side", ("controller", "experiment", *FIGURES), lines)


def summary(experiment: str, controller: str, seed: int) -> Summary:
    times = {"time.duration": "30 ms", "time.warmup": "10 ms"} if experiment in INCASTS else {}
    settings = {**times, "record.report": False, **MARKED.get(controller, {})}
    with tempfile.TemporaryDirectory() as out:
        return testbed.run(
            experiment, controller=controller, engine="virtual", seed=seed, settings=settings, out=out
        ).summary


def incast(runs: Sequence[Summary]) -> Found:
    rows = [(run.su, run.fr_flows, run.ql_mean * 1e6, run.ql_p99 * 1e6, run.drops) for run in runs]
    return dict(zip(FIGURES, map(list, zip(*rows, strict=True)), strict=False))


def recovery(runs: Sequence[Summary]) -> tuple[Found, str]:
    """Of the seeds that recover; the words say after how many interruptions, if not after all."""
    found = [run.recovery * 1e6 for run in runs if run.recovered]
    if not found:
        return {}, "never"
    recovered, asked = sum(run.recovered for run in runs), sum(run.interruptions for run in runs)
    share = "" if recovered == asked else f" ({recovered} of {asked})"
    return {RECOVERED: found}, f"{median(RECOVERED, found)} us{share}"


def median(name: str, values: Sequence[float]) -> str:
    return f"{np.median(values):,.{FIGURES[name]}f}"


def spread(name: str, values: Sequence[float]) -> str:
    """Median, and the least and the most of all seeds."""
    if not values:
        return ""
    least, most = (f"{one:,.{FIGURES[name]}f}" for one in (min(values), max(values)))
    return median(name, values) + (f" ({least} to {most})" if least != most else "")


if __name__ == "__main__":
    main(sys.argv[1:])
