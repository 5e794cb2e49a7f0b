"""All controllers in the same runs: the first table of docs/findings/controllers.md, without its last column.

.venv/bin/python scripts/side_by_side.py [CONTROLLER ...]     # 10 s of CPU each, `aurora` a minute
"""

from __future__ import annotations

import sys
import tempfile

import testbed
from testbed.registry import names
from testbed.results.summary import Summary

INCASTS = ("incast-2", "incast-16", "incast-128")
FORMS = ("adpg-int8", "adpg-nn", "decc-nn", "decc-quantised", "evolved", "fixed")  # of another row, or of no source
MARKED = {name: {"tuner.preset": "secn1"} for name in ("dcqcn", "rtt-template")} | {
    name: {"tuner.preset": name} for name in ("dctcp", "nscc")
}


def main(controllers: list[str]) -> None:
    """Run and print."""
    print("| | " + " | ".join((*INCASTS, "recovery")) + " |\n|---|" + "---|" * (len(INCASTS) + 1))
    for controller in controllers or sorted(set(names("controller")) - set(FORMS)):
        cells = [*(incast(summary(one, controller)) for one in INCASTS), recovery(summary("long-short", controller))]
        print(f"| `{controller}` | " + " | ".join(cells) + " |", flush=True)


def summary(experiment: str, controller: str) -> Summary:
    times = {"time.duration": "30 ms", "time.warmup": "10 ms"} if experiment in INCASTS else {}
    settings = {**times, "record.report": False, **MARKED.get(controller, {})}
    with tempfile.TemporaryDirectory() as out:
        return testbed.run(
            experiment, controller=controller, engine="virtual", seed=1, settings=settings, out=out
        ).summary


def incast(run: Summary) -> str:
    lost = f", {run.drops:,.0f} drops" if run.drops else ""
    return f"{run.su:.1f}, {run.fr_flows:.0f}, {run.ql_mean * 1e6:.2f}, {run.ql_p99 * 1e6:.1f}{lost}"


def recovery(run: Summary) -> str:
    if not run.recovered:
        return "never"
    return f"{run.recovery * 1e6:.0f} us ({run.recovered} of {run.interruptions})"


if __name__ == "__main__":
    main(sys.argv[1:])
