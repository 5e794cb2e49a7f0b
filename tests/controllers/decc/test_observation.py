"""What DECC sees and does: the paper's range of factors, and one scaling in both forms."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_controllers.decc.observation import decades, delay, factor, factors, observed


@pytest.mark.parametrize(
    ("action", "expected"), [(0.5, 1.425), (-0.5, 1 / 1.425), (0.0, 1.0), (0.1, 1.085), (-0.1, 1 / 1.085)]
)
def test_the_window_moves_by_the_papers_factor(action: float, expected: float) -> None:
    """Equation 2 with alpha 0.85."""
    assert factor(action) == pytest.approx(expected, rel=1e-12)
    assert factors(np.array([action]))[0] == pytest.approx(expected, rel=1e-12)


def test_shares_of_any_link_can_be_told_apart() -> None:
    """A decade is half a unit, down to 1e-4; the delay is the root of what is above the base RTT."""
    shares = np.array([1.0, 0.1, 1 / 64, 1 / 8192, 1e-6])
    np.testing.assert_allclose([decades(one) for one in shares], [0.5, 0.0, -0.40309, -1.4567, -1.5], atol=1e-4)
    assert [delay(one) for one in (0.9, 1.0, 1.25, 5.0, 100.0)] == pytest.approx([0, 0, 0.5, 2, 8**0.5])


def test_training_and_controller_see_the_same() -> None:
    rng = np.random.default_rng(1)
    thr, window, rate = np.exp(rng.uniform(-12, 1, (3, 50)))
    inflation, loss = rng.uniform(0.9, 12, 50), rng.uniform(0, 2, 50)
    rows = zip(thr, inflation, loss, window, rate, strict=True)
    expected = [[decades(t), delay(i), min(lost, 1.0), decades(w), decades(r)] for t, i, lost, w, r in rows]
    np.testing.assert_allclose(observed(thr, inflation, loss, window, rate), expected, rtol=1e-12)
