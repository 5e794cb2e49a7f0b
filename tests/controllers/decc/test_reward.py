"""DECC's reward at states that are computed by hand: every term, and that what is worse is worth less."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_controllers.decc.reward import Period, rewards

from testbed.base.arrays import Floats


def period(shares: list[float], inflation: float = 1.1, loss: float = 0.0, thr: Floats | None = None) -> Period:
    """One bottleneck, at rest unless ``thr`` (5, n) says how throughput was."""
    n = len(shares)
    five = np.tile(shares, (5, 1)) if thr is None else thr
    rows = np.full((1, n), inflation), np.full((1, n), loss), np.ones((1, n)), np.ones((1, 1))
    return Period(five[:, None, :], *rows)


def shared(*given: object, **more: object) -> float:
    return float(rewards(period(*given, **more))[0][0])  # type: ignore[arg-type]


@pytest.mark.parametrize("flows", [2, 8, 64])
def test_a_full_and_fair_link_is_worth_a_tenth(flows: int) -> None:
    """c0 U alone: delay up to 1.1 base RTTs is free."""
    assert shared([1 / flows] * flows) == pytest.approx(0.1)
    assert rewards(period([1 / flows] * flows))[1] == pytest.approx(0.1)


def test_each_term_by_hand() -> None:
    assert shared([0.45, 0.45], 1.6) == pytest.approx(0.09 - 0.02 * 0.5)
    assert shared([0.5, 0.5], loss=0.03) == pytest.approx(0.1 - 0.03)
    # shares .75 and .25: standard deviation .25, mean .5
    assert shared([0.75, 0.25]) == pytest.approx(0.1 - 0.02 * 0.5)
    # one flow between .4 and .6: deviation .09798 (2 of 5 low), mean .52
    thr = np.array([[0.4, 0.5], [0.6, 0.5], [0.4, 0.5], [0.6, 0.5], [0.6, 0.5]])
    mean, apart = np.array([0.52, 0.5]), 0.01 / 0.51
    expected = 0.11 - 0.02 * apart - 0.01 * np.mean([np.std(thr[:, 0]) / mean[0], 0.0])
    assert shared([0.6, 0.5], thr=thr) == pytest.approx(min(expected, 0.1))


def test_unfairness_weighs_the_same_with_many_flows() -> None:
    """Relative to the mean (contradiction 51): with std over the line rate it would vanish with N."""
    lost = [0.1 - shared([1.5 / n, 0.5 / n] * (n // 2)) for n in (2, 8, 64)]
    np.testing.assert_allclose(lost, 0.02 * 0.5, rtol=1e-9)


def test_worse_is_worth_less() -> None:
    """The printed equations reward unfairness and delay (contradictions 26, 27)."""
    assert shared([0.5, 0.5]) > shared([0.6, 0.4]) > shared([0.9, 0.1])
    assert shared([0.5, 0.5], 1.1) > shared([0.5, 0.5], 1.3) > shared([0.5, 0.5], 2.0)
    assert shared([0.5, 0.5]) > shared([0.5, 0.5], loss=0.01) > shared([0.5, 0.5], loss=0.05)
    assert shared([0.0, 0.0]) == pytest.approx(0.0)
    assert shared([0.125] * 8, 49.0) == -0.1


def test_own_credit_blames_who_is_apart() -> None:
    _, own = rewards(period([0.7, 0.1, 0.1, 0.1]), own_fairness=5.0)
    assert own[0] == pytest.approx([0.1 - 0.1 * 1.8, *[0.1 - 0.1 * 0.6] * 3])
