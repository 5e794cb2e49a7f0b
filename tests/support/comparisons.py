"""A comparison with a paper that has everything a comparison may have, and runs that fill it."""

from __future__ import annotations

from pathlib import Path

from testbed.results.papers.cells import Measured
from testbed.results.papers.comparison import load
from testbed.results.papers.figures import Figures
from testbed.results.summary import Summary, summarise
from testbed.results.verdict import Verdict
from tests.support.folders import SLOW
from tests.support.synthetic_runs import run

MINE = Path(__file__).with_name("mine.yaml")


def summary(su: float, ql: float, *, degraded: bool = False) -> Summary:
    """Of one run; ``ql`` in microseconds."""
    found = summarise(run(), Verdict(), experiment="incast-8", controller="dcqcn")
    figures = {"su": su, "ql_mean": ql * 1e-6, "goodput": 50e9, "bottleneck_rate": 100e9}
    return found.model_copy(update={**figures, "verdict": SLOW if degraded else Verdict()})


def figures_of_mine() -> Figures:
    """Of all that it has, filled."""
    runs = {
        ("A", "two"): [summary(93, 4), summary(94, 5), summary(97, 6)],
        ("A", "eight"): [summary(80, 20), summary(80, 20)],
        ("B", "two"): [summary(85, 10), summary(85, 10), summary(85, 10, degraded=True)],
        ("B", "eight"): [summary(91, 10)],
    }
    measured = Measured(summaries={place: dict(enumerate(found, 1)) for place, found in runs.items()})
    return Figures(load(str(MINE)), measured)
