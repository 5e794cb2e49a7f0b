"""RED's marking by definition, for one queue and for many."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.base.red import mark_share


@pytest.mark.parametrize(
    ("queue", "probability"), [(0, 0), (100, 0), (101, 0.0005), (200, 0.05), (300, 0.1), (300.001, 1), (1e9, 1)]
)
def test_red_law(queue: float, probability: float) -> None:
    assert mark_share(queue, 100, 300, 0.1) == pytest.approx(probability)


def test_equal_thresholds_are_a_step() -> None:
    assert (mark_share(100, 100, 100, 0.2), mark_share(100.1, 100, 100, 0.2)) == (0, 1)


def test_queues_with_thresholds_of_their_own() -> None:
    rows = [(1e5, 1e5, 4e5, 0.2), (4e5, 1e5, 4e5, 0.2), (4.1e5, 1e5, 4e5, 0.2), (150, 100, 200, 0.2)]
    rows += [(100, 100, 100, 0.5), (100.1, 100, 100, 0.5)]  # steps
    assert mark_share(*np.array(rows).T) == pytest.approx([0, 0.2, 1, 0.1, 0, 1])
