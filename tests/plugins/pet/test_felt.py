"""The reward of `fct`, by hand: every slot of a flow's life costs its users what it adds to the slowdown."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_plugins.pet.felt import felt, mean_waits, waited

# Two mice and an elephant: alone they would take 1, 2 and 4 s. The second mouse goes to port 1.
START, END = np.array([0.0, 1.0, 0.5]), np.array([2.0, 4.0, 10.0])
ALONE, SIZE, PORT = np.array([1.0, 2.0, 4.0]), np.array([1e3, 1e6, 1e6 + 1]), np.array([0, 1, 0])
EDGES = np.array([0.0, 1.0, 3.0, 10.0])


def test_the_slots_of_a_flow_add_up_to_its_slowdown() -> None:
    waits = waited(START, END, ALONE, EDGES)
    assert waits.tolist() == [[1.0, 1.0, 0.0], [0.0, 1.0, 0.5], [0.125, 0.5, 1.75]]
    assert waits.sum(axis=1) == pytest.approx((END - START) / ALONE)
    assert mean_waits(waits, SIZE) == pytest.approx((1.75, 9.5 / 4))


def test_mice_and_elephants_count_half_each_where_they_were_felt() -> None:
    waits = waited(START, END, ALONE, EDGES)
    reward = felt(waits, SIZE, PORT, 3, mean_waits(waits, SIZE))
    assert reward.sum() == pytest.approx(-1)
    assert reward[:, 1] == pytest.approx([0.0, -0.5 / 3.5, -0.25 / 3.5])  # the second of two mice of 3.5 together
    assert reward[:, 2].tolist() == [0.0, 0.0, 0.0]
    assert felt(2 * waits, SIZE, PORT, 3, mean_waits(waits, SIZE)).sum() == pytest.approx(-2)


def test_without_elephants_mice_alone_count() -> None:
    waits, mice = waited(START, END, ALONE, EDGES)[:2], SIZE[:2]
    assert felt(waits, mice, PORT[:2], 2, mean_waits(waits, mice)).sum() == pytest.approx(-0.5)
