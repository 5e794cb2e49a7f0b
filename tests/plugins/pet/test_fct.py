"""Training for completion times: where it begins, and that an end before its end costs nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from testbed_plugins.learned.observation import Observation
from testbed_plugins.learned.policy import Layer
from testbed_plugins.pet.beginning import FIRST, INCAST
from testbed_plugins.pet.decision import Heads
from testbed_plugins.pet.fct import FctTraining
from testbed_plugins.pet.settings import PRESETS, Settings
from testbed_plugins.pet.training import Progress

from testbed.tuner import Ports, PortSample, Thresholds
from tests.support.lazily import needs_torch

pytestmark = needs_torch
SMALL = {**PRESETS["fct"], "updates": 2, "episode": 20, "ports": 4, "copies": 2, "epochs": 1}


def same(one: list[Layer], other: list[Layer]) -> bool:
    return all(np.array_equal(a, b) for pair in zip(one, other, strict=True) for a, b in zip(*pair, strict=True))


def test_it_begins_with_its_constant() -> None:
    learner = FctTraining(Settings(**SMALL)).learner
    heads = Heads(learner.grid, np.full(5, 5e6))
    features = np.random.default_rng(1).uniform(size=(5, 3, learner.actor[0].in_features // 3))
    features[:, :, -2] *= np.log2(10) / 7  # up to nine senders
    features = features.reshape(5, -1)
    assert heads.best(learner.scores(features)).tolist() == [list(FIRST)] * 5
    kmin, kmax, pmax = learner.grid.values(np.array([FIRST]))
    assert (kmin[0], kmax[0], pmax[0]) == (20e3, 320e3, 0.5)


@pytest.mark.parametrize(
    ("senders", "mice_share", "incast"),
    [(9, 1, False), (10, 1, True), (15, 1, True), (15, 0.5, False), (12, 0.9, True), (np.nan, np.nan, False)],
)
def test_it_begins_without_marks_for_three_slots_after_many_senders_of_mice(
    senders: float, mice_share: float, incast: bool
) -> None:
    learner = FctTraining(Settings(**SMALL)).learner
    ports = Ports(("s-eth0", "s-eth1"), np.full(2, 25e9), np.full(2, 5e6), 8e-6)
    heads, observation = Heads(learner.grid, ports.buffer), Observation(ports, 3, flows=True)
    idle = PortSample.idle(Thresholds.uniform(2, 20e3, 320e3, 0.5))
    seen = replace(idle, incast_degree=np.array([senders, 2]), mice_share=np.array([mice_share, 1]))
    decided = [heads.best(learner.scores(observation.append(one))).tolist() for one in (idle, seen, idle, idle, idle)]
    other = [list(INCAST if incast else FIRST), list(FIRST)]
    assert decided == [[list(FIRST)] * 2, other, other, other, [list(FIRST)] * 2]


def test_an_interrupted_training_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        assert -5 < progress.reward < -0.2
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        FctTraining(Settings(**SMALL)).run(stop, tmp_path / "fct.npz")
    told: list[int] = []
    resumed = FctTraining(Settings(**SMALL)).run(lambda one: told.append(one.update), tmp_path / "fct.npz")
    assert told == [2]
    unbroken = FctTraining(Settings(**SMALL)).run()
    assert same(resumed.actor, unbroken.actor)
    assert not same(unbroken.actor, FctTraining(Settings(**{**SMALL, "seed": 2})).run().actor)
