"""PET that goes on learning in a run."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from testbed_plugins.learned.mlp import layers_of
from testbed_plugins.learned.tuner import FIRST
from testbed_plugins.pet.guard import WINDOW
from testbed_plugins.pet.online import ACTIVE_AFTER, TRAJECTORY

from testbed.errors import BadInput
from tests.support.slots import SECN2, ports, slot, tuner


def test_online_learns_and_falls_back_to_static(tmp_path: Path) -> None:
    """A window of static thresholds, two good ones of the policy, and one that is bad."""
    one = tuner("pet", tmp_path, {0: 3.0}, ports(), online=True, explore=0.5)
    static, states, exploring = one.initial(), [], set()
    for number in range(4 * WINDOW + 1):
        bad = number >= 3 * WINDOW
        sample = slot(static, mean_queue=5e6 if bad else 0.0, tx_rate=0.0 if bad else 20e9)
        decided = one.on_slot(number * 1e-4, sample)
        states.append(one.state)
        if one.state == "exploring":
            exploring.add(float(decided.kmin[0]))
    assert states == ["baseline"] * (WINDOW - 1) + ["exploring"] * 3 * WINDOW + ["fallen back"] * 2
    assert len(exploring) > 1
    assert one.report["updates"] == 2  # a third one ended with the policy that it was for
    assert (decided.kmin[0], decided.kmax[0], decided.pmax[0]) == (80e3, 320e3, 0.2) == FIRST
    trained = [weights for weights, _ in one.learner.trained]
    assert all(np.array_equal(a, b) for a, (b, _) in zip(trained, layers_of(one.learner.acting.actor), strict=True))


def test_an_update_is_in_force_after_a_fixed_number_of_slots(tmp_path: Path) -> None:
    """Whoever is slow: results must not depend on how fast the thread is."""
    one = tuner("pet", tmp_path, {}, ports(), online=True)
    updates = []
    for number in range(WINDOW + TRAJECTORY + ACTIVE_AFTER):
        one.on_slot(number * 1e-4, slot(SECN2, tx_rate=20e9))
        updates.append(one.report["updates"])
    assert updates == [0] * (len(updates) - 1) + [1]


def test_a_learner_that_may_learn_no_more_is_frozen(tmp_path: Path) -> None:
    one = tuner("pet", tmp_path, {0: 3.0}, ports(), online=True, explore=1, learn=2 * WINDOW)
    states, chosen = [], []
    for number in range(3 * WINDOW):
        chosen.append(float(one.on_slot(number * 1e-4, slot(SECN2, tx_rate=20e9)).kmin[0]))
        states.append(one.state)
    assert (states[2 * WINDOW - 1], states[2 * WINDOW]) == ("exploring", "frozen")
    assert len(set(chosen[WINDOW : 2 * WINDOW])) > 1
    assert len(set(chosen[2 * WINDOW :])) == 1


def test_switches_draw_apart_and_again_the_same(tmp_path: Path) -> None:
    def drawn(switch: str) -> list[float]:
        at = ports()
        names = tuple(name.replace("s1", switch) for name in at.name)
        one = tuner("pet", tmp_path, {}, type(at)(names, at.rate, at.buffer, at.base_rtt), online=True, explore=1)
        return [float(one.on_slot(k * 1e-4, slot(SECN2)).kmin[0]) for k in range(WINDOW + 10)]

    assert drawn("leaf1") == drawn("leaf1")
    assert drawn("leaf1") != drawn("leaf2")


def test_exploration_decays_after_50_slots(tmp_path: Path) -> None:
    """Equation 13: 0.99 ** (t / 50)."""
    one = tuner("pet", tmp_path, {}, ports(), online=True)
    found = []
    for one.learner.slots in (0, 50, 100):
        found.append(one.learner.exploration)
    assert found == pytest.approx([0.2, 0.2, 0.2 * 0.99**2])


def test_online_without_torch_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BadInput, match=r'torch is not installed; run: pip install "cc-testbed\[train\]"'):
        tuner("pet", tmp_path, {}, ports(), online=True)
    assert tuner("pet", tmp_path, {}, ports()).learner is None
