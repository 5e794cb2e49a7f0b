"""Training for completion times: where it begins, and that an end before its end costs nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from testbed_plugins.learned.policy import Layer
from testbed_plugins.pet.cell import FIRST
from testbed_plugins.pet.decision import Heads
from testbed_plugins.pet.fct import FctTraining
from testbed_plugins.pet.settings import PRESETS, Settings
from testbed_plugins.pet.training import Progress

SMALL = {**PRESETS["fct"], "updates": 2, "episode": 20, "ports": 4, "copies": 2, "epochs": 1}


def same(one: list[Layer], other: list[Layer]) -> bool:
    return all(np.array_equal(a, b) for pair in zip(one, other, strict=True) for a, b in zip(*pair, strict=True))


def test_it_begins_with_its_constant() -> None:
    learner = FctTraining(Settings(**SMALL)).learner
    heads = Heads(learner.grid, np.full(5, 5e6))
    features = np.random.default_rng(1).uniform(size=(5, learner.actor[0].in_features))
    assert heads.best(learner.scores(features)).tolist() == [list(FIRST)] * 5
    kmin, kmax, pmax = learner.grid.values(np.array([FIRST]))
    assert (kmin[0], kmax[0], pmax[0]) == (40e3, 160e3, 1.0)


def test_an_interrupted_training_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        assert -5 < progress.reward < -0.2
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        FctTraining(Settings(**SMALL)).run(stop, tmp_path / "fct.pt")
    told: list[int] = []
    resumed = FctTraining(Settings(**SMALL)).run(lambda one: told.append(one.update), tmp_path / "fct.pt")
    assert told == [2]
    unbroken = FctTraining(Settings(**SMALL)).run()
    assert same(resumed.actor, unbroken.actor)
    assert not same(unbroken.actor, FctTraining(Settings(**{**SMALL, "seed": 2})).run().actor)
