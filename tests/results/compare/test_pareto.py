"""Dominance: nowhere worse and somewhere better, by the intervals of the repeats."""

from __future__ import annotations

import pytest

from testbed.results.compare.median import Estimate, estimate
from testbed.results.compare.pareto import dominated_by, dominates


def result(su: float, fr: float, ql: float, *, spread: float = 0.0, repeats: int = 3) -> dict[str, Estimate]:
    """SU and FR in %, QL in us; repeats that differ by the share ``spread``."""
    factors = [1 + spread * (number - (repeats - 1) / 2) for number in range(repeats)]
    named = {"su": su, "fr_flows": fr, "ql_mean": ql * 1e-6}
    return {name: estimate([value * factor for factor in factors]) for name, value in named.items()}


@pytest.mark.parametrize(
    ("other", "dominated"),
    [
        ((90, 90, 10), False),  # equal
        ((90, 90, 11), True),  # 1 us, which a fixed rule of 5 us took for nothing
        ((85, 90, 10), True),
        ((80, 95, 10), False),  # better in FR
        ((100, 100, 1), False),
    ],
)
def test_nowhere_worse_and_somewhere_better(other: tuple[float, float, float], dominated: bool) -> None:
    assert dominates(result(90, 90, 10), result(*other)) is dominated


def test_what_the_repeats_do_not_tell_apart_is_equal() -> None:
    assert dominates(result(90, 90, 10, spread=0.2), result(90, 90, 12, spread=0.2)) is False
    assert dominates(result(90, 90, 10, spread=0.2), result(90, 90, 40, spread=0.2)) is True


def test_too_few_repeats_or_an_unknown_figure_decide_nothing() -> None:
    good, single, unknown = result(99, 99, 1), result(1, 1, 99, repeats=1), result(1, float("nan"), 99)
    assert dominates(good, single) is None
    assert dominates(good, unknown) is None
    assert dominated_by([good, single]) == [None, None]
    assert dominated_by([good, unknown, result(50, 50, 50)]) == [[], None, [0]]


def test_equal_is_not_transitive_so_a_ring_is_dominated_as_a_whole() -> None:
    def around(*figures: float) -> dict[str, Estimate]:
        named = zip(("su", "fr_flows", "ql_mean"), figures, strict=True)
        return {name: estimate([value - 2, value, value + 2]) for name, value in named}

    # each is 6 better in one figure than the next one, which 2 to either side tell apart, and 3 worse in the others
    assert dominated_by([around(96, 93, 13), around(90, 96, 10), around(93, 90, 7)]) == [[2], [0], [1]]


def test_one_alone_is_not_dominated() -> None:
    assert dominated_by([result(1, 1, 1, repeats=1)]) == [[]]
