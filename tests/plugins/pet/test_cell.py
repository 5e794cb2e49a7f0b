"""Arrivals on the virtual engine: what tuners do to their users, and what training draws."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_plugins.learned.observation import width
from testbed_plugins.pet import ALPHA, grid
from testbed_plugins.pet.cell import Cell
from testbed_plugins.pet.ppo import Ppo, PpoSettings

from tests.support.lazily import needs_torch

pytestmark = needs_torch
SLOTS, HOSTS = 40, 4


@pytest.fixture(scope="module")
def cell() -> Cell:
    return Cell("websearch", 0.9, 3, HOSTS, SLOTS)


def test_slowdowns_are_measured_in_those_under_secn1(cell: Cell) -> None:
    secn1 = {"kmin": "5 kB at 40 Gbit/s", "kmax": "200 kB at 40 Gbit/s", "pmax": "1 %"}
    assert cell.felt("static", secn1) == pytest.approx(1.0, abs=1e-12)
    never = {"kmin": "1 MB", "kmax": "2 MB"}  # four windows of one BDP fill no queue so far
    assert abs(cell.felt("static", never) - 1) > 1e-3


def test_draws_differ_and_their_rewards_add_up(cell: Cell) -> None:
    learner = Ppo(grid(ALPHA), width(3, flows=True), PpoSettings(), seed=1)
    (columns, gained), (others, _) = cell.drawn(learner), cell.drawn(learner)
    features, actions, log_prob, values = columns
    assert features.shape == (SLOTS, HOSTS, width(3, flows=True))
    assert actions.shape == (SLOTS, HOSTS, 3)
    assert log_prob.shape == values.shape == gained.shape == (SLOTS, HOSTS)
    assert not np.array_equal(actions, others[1])
    assert -3 < gained.sum() < -0.3
    assert (gained <= 0).all()


def test_incasts_come_on_top_of_the_load(cell: Cell) -> None:
    mixed = Cell("websearch", 0.9, 3, HOSTS, SLOTS, incasts=True).resolved.layout.plan
    incasts = mixed.size[np.array(mixed.label) == "incast"]
    assert len(incasts) == 12 * int(cell.duration / 500e-6) > 0
    assert (incasts == 64e3).all()
    assert len(mixed) == len(incasts) + len(cell.resolved.layout.plan)
