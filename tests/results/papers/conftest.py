"""The comparison of the tests, and runs that fill it."""

from __future__ import annotations

import pytest

from testbed.results.papers.comparison import Comparison, load
from testbed.results.papers.figures import Figures
from tests.support.comparisons import MINE, figures_of_mine


@pytest.fixture
def mine() -> Comparison:
    return load(str(MINE))


@pytest.fixture
def figures() -> Figures:
    return figures_of_mine()
