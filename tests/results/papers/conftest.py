"""The comparison of the tests, and runs that fill it."""

from __future__ import annotations

import pytest

from testbed.results.papers.cells import Measured
from testbed.results.papers.comparison import Comparison, load
from testbed.results.papers.figures import Figures
from tests.support.comparisons import MINE, summary


@pytest.fixture
def mine() -> Comparison:
    return load(str(MINE))


@pytest.fixture
def figures(mine: Comparison) -> Figures:
    runs = {
        ("A", "two"): [summary(93, 4), summary(94, 5), summary(97, 6)],
        ("A", "eight"): [summary(80, 20), summary(80, 20)],
        ("B", "two"): [summary(85, 10), summary(85, 10), summary(85, 10, degraded=True)],
        ("B", "eight"): [summary(91, 10)],
    }
    return Figures(mine, Measured(summaries={place: dict(enumerate(found, 1)) for place, found in runs.items()}))
