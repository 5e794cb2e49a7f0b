"""A comparison with a paper that has everything a comparison may have, and runs that fill it."""

from __future__ import annotations

from pathlib import Path

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
