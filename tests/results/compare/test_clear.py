"""Better, worse and equal follow from the intervals, and chance alone decides as often as is said."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.results.compare.clear import Clear, chance, compared
from testbed.results.compare.median import estimate
from testbed.results.summary import COMPARED

QL, SU = COMPARED["ql_mean"], COMPARED["su"]


@pytest.mark.parametrize(
    ("n", "m", "expected"),
    [(1, 1, 1.0), (2, 2, 2 / 6), (3, 3, 2 / 20), (2, 4, 2 / 15), (6, 6, 2 / 924), (0, 3, 1.0)],  # of C(n+m, n)
)
def test_chance_of_few_repeats(n: int, m: int, expected: float) -> None:
    assert chance(n, m) == pytest.approx(expected)


@pytest.mark.parametrize(("n", "m"), [(3, 5), (9, 9), (12, 10)])
def test_chance_is_that_of_equal_distributions(n: int, m: int) -> None:
    draw = np.random.default_rng(1).lognormal(size=(20_000, n + m))
    found = [(estimate(list(one[:n])), estimate(list(one[n:]))) for one in draw]
    apart = np.mean([one.low > other.high or one.high < other.low for one, other in found])
    assert apart == pytest.approx(chance(n, m), abs=4 * np.sqrt(chance(n, m) / len(draw)))


@pytest.mark.parametrize(
    ("own", "other", "word"),
    [
        ((2.0, 2.1, 2.2), (6.0, 6.1, 6.2), "better"),  # 4 us: a fixed rule of 5 called that equal
        ((20.0, 31.0, 40.0), (22.0, 25.0, 26.0), "equal"),  # 6 us, and a rule of 5 called that worse
        ((6.0, 6.1, 6.2), (2.0, 2.1, 2.2), "worse"),
        ((10.01, 10.02, 10.03), (10.0, 10.0, 10.0), "equal"),  # apart, but by less than 1 %
        ((2.0,), (6.0,), ""),
        ((2.0, 2.1), (6.0, 6.1), ""),  # chance does that in a third of all cases
        ((2.0, float("nan"), 2.2), (6.0, 6.1, 6.2), ""),
    ],
)
def test_the_repeats_decide(own: tuple[float, ...], other: tuple[float, ...], word: Clear) -> None:
    assert compared(QL, estimate(own), estimate(other)) == word


def test_more_is_better_where_the_figure_says_so() -> None:
    assert compared(SU, estimate([2, 2, 2]), estimate([6, 6, 6])) == "worse"
