"""Distillation: trees are accepted by how they control, and by nothing else."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from testbed_controllers.adpg import distillation
from testbed_controllers.adpg.distillation import Settings, anywhere, around_rest, attempt, distil
from testbed_controllers.adpg.network import Network

POLICIES = Path(distillation.__file__).with_name("policies")
T = 8.192e-6


@pytest.fixture(scope="module")
def teacher() -> Network:
    return Network.load(POLICIES / "network.json")


def test_accepted_trees_hold_the_oracle(teacher: Network) -> None:
    pytest.importorskip("catboost")
    attempts = distil(teacher, Settings(rows=300_000))
    assert attempts[-1].failure == ""
    assert attempts[-1].trees.leaves.shape == (20, 16)
    for one in attempts[-1].figures:
        assert one.oracle == pytest.approx(T * (0.5 + 0.064 * math.sqrt(one.flows)))
        assert one.queue == pytest.approx(one.oracle, rel=0.25)
        assert one.su >= 99
        assert one.fr >= 0.85


def test_one_question_is_refused_by_the_closed_loop(teacher: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("catboost")
    monkeypatch.setattr(distillation, "CLOSED_LOOPS", (2, 8))  # which are quick
    told: list[distillation.Attempt] = []
    attempts = distil(teacher, Settings(trees=1, depth=1, rows=20_000, attempts=2), told.append)
    assert [one.seed for one in attempts] == [1, 2]  # the next seed was tried
    assert attempts[1].learning_rate == attempts[0].learning_rate / 2
    assert all("flows" in one.failure for one in attempts)
    assert told == attempts


def test_the_same_seed_gives_the_same_trees(teacher: Network) -> None:
    pytest.importorskip("catboost")
    first, again = (distillation.fit(teacher, Settings(rows=20_000), 5, 1.0) for _ in range(2))
    for name in ("feature", "border", "leaves"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))


def test_training_data_stay_where_decisions_can_be() -> None:
    rng = np.random.default_rng(1)
    for states in (anywhere(10_000, rng), around_rest(10_000, rng)):
        assert states[:, [0, 2]].min() >= 1 / 1.2
        assert states[:, [0, 2]].max() <= 1.2
        assert states[:, [1, 3]].min() >= -0.8
        assert states[:, [1, 3]].max() <= 8.0


def test_attempt_measures_the_ramp(teacher: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("catboost")
    monkeypatch.setattr(distillation, "CLOSED_LOOPS", (2, 8))
    one = attempt(teacher, Settings(rows=20_000), seed=1, learning_rate=1.0)
    assert one.ramp > math.log(95) / math.log(1.2)  # nothing is faster than the largest multiplier
