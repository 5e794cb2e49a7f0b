"""The order of scores, compared between two engines."""

from __future__ import annotations

import pytest

from bench.rank import kendall
from testbed.sdk.score.score import Outcome


def outcomes(**queues: float) -> dict[str, Outcome]:
    """By experiment."""
    return {name: Outcome(name, {"queue": value}) for name, value in queues.items()}


def test_tau_is_the_share_of_pairs_in_the_same_order_less_that_of_the_others() -> None:
    virtual = [outcomes(a=0.1), outcomes(a=0.2), outcomes(a=0.3)]
    assert kendall(virtual, [outcomes(a=0.1), outcomes(a=0.3), outcomes(a=0.2)]) == (pytest.approx(1 / 3), 3)
    assert kendall(virtual, virtual[::-1]) == (-1, 3)


def test_a_pair_is_compared_over_the_runs_that_both_have_on_both_engines() -> None:
    """The second run of the first controller was spoiled in the rack: without it that one is behind, with it ahead."""
    virtual = [outcomes(a=0.1, b=0.9), outcomes(a=0.2, b=0.2)]
    assert kendall(virtual, [outcomes(a=0.1), outcomes(a=0.2, b=0.2)]) == (1, 1)
    assert kendall(virtual, [outcomes(b=0.9), outcomes(a=0.2)]) == (0, 0)
