"""PET's reward, actions and guard, by hand; its learner on a problem whose answer is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from testbed_plugins.pet import PMAX, grid
from testbed_plugins.pet.decision import Heads
from testbed_plugins.pet.online import WINDOW, Guard
from testbed_plugins.pet.ppo import Ppo, PpoSettings, Trajectories
from testbed_plugins.pet.reward import WEIGHTS, reward

from testbed.tuner import Thresholds
from tests.plugins.slots import ports, slot, tuner

SECN2 = Thresholds.uniform(3, 100e3, 400e3, 0.2)
KMAX, P = 10, 20  # where the heads begin in the scores


def test_reward_is_bounded_where_the_printed_one_is_not() -> None:
    """0.3 T + 0.7 / (1 + q / 20 kB): at q = 0 and a full link 1, at q = 20 kB half of the queue's part."""
    weights = WEIGHTS["websearch"]
    assert weights == (0.3, 0.7)
    sample = slot(SECN2, mean_queue=[0.0, 20e3, 0.0], tx_rate=[25e9, 25e9, 0.0])
    assert reward(sample, ports(), weights) == pytest.approx([1.0, 0.65, 0.7])


def test_reward_grows_with_the_rate_and_falls_with_the_queue() -> None:
    for weights in WEIGHTS.values():
        rates = reward(slot(SECN2, mean_queue=50e3, tx_rate=[5e9, 10e9, 20e9]), ports(), weights)
        queues = reward(slot(SECN2, mean_queue=[0.0, 50e3, 5e6], tx_rate=5e9), ports(), weights)
        assert (np.diff(rates) > 0).all()
        assert (np.diff(queues) < 0).all()


def test_queues_of_one_port_share_the_ports_reward() -> None:
    """Section 4.5.2: the reward is of the sum of a port's queues."""
    at = ports(port=np.array([0, 0, 1]))
    sample = slot(SECN2, mean_queue=[10e3, 10e3, 0.0], tx_rate=[10e9, 15e9, 0.0])
    assert reward(sample, at, (0.3, 0.7)) == pytest.approx([0.65, 0.65, 0.7])


def test_kmin_is_always_below_kmax() -> None:
    buffers = np.array([12e6, 5e6, 50e3])
    heads = Heads(grid(20e3), buffers)
    rng = np.random.default_rng(1)
    for _ in range(200):
        kmin, kmax, _ = grid(20e3).values(heads.best(rng.normal(0, 100, (3, 40))))
        assert (kmin < kmax).all()
        assert (kmax <= buffers).all()


def test_masked_actions_are_never_drawn_and_have_no_probability() -> None:
    at = grid(20e3)
    heads = Heads(at, np.full(500, 100e3))  # 20, 40 and 80 kB fit: 3 pairs
    learner = Ppo(at, 4, PpoSettings(), seed=1)
    actions, log_prob, _ = learner.act(np.zeros((500, 4)), heads)
    assert set(map(tuple, actions[:, :2].tolist())) == {(0, 1), (0, 2), (1, 2)}
    assert np.isfinite(log_prob).all()
    scores = learner.scores(np.zeros((500, 4)))
    every = at.joint(100e3)
    total = np.exp(learner.log_prob(scores[: len(every)], every, Heads(at, np.full(len(every), 100e3)))).sum()
    assert total == pytest.approx(1.0, abs=1e-6)


def test_the_highest_scores_decide(tmp_path: Path) -> None:
    one = tuner("pet", tmp_path, {1: 5.0, KMAX + 4: 5.0, P + 7: 5.0}, ports())
    decided = one.on_slot(1e-4, slot(one.initial(), queue=50e3))
    assert (decided.kmin[0], decided.kmax[0], decided.pmax[0]) == (40e3, 320e3, PMAX[7])
    assert one.report["reward"] == pytest.approx(0.7)


def test_multi_queue_ports_get_a_row_each(tmp_path: Path) -> None:
    one = tuner("pet", tmp_path, {}, ports(port=np.array([0, 0, 1])))
    assert one.on_slot(1e-4, slot(one.initial(), queue=[1e3, 1e6, 0.0])).kmin.shape == (3,)


def test_learns_which_kmin_is_paid() -> None:
    """A bandit: reward 1 for Kmin = E(3), 0 otherwise. Its probability rises far above that at the start."""
    at, n = grid(20e3), 64
    heads = Heads(at, np.full(n, 12e6))
    learner = Ppo(at, 4, PpoSettings(actor_rate=3e-3, gamma=0.0), seed=3)
    features = np.ones((n, 4))
    shares = []
    for _ in range(40):
        actions, log_prob, values = learner.act(features, heads)
        paid = (actions[:, 0] == 3).astype(float)
        seen = (features, actions, log_prob, paid, values)
        learner.update(Trajectories(*(one[None] for one in seen), learner.values(features)), heads, 0.0)
        shares.append(paid.mean())
    assert np.mean(shares[:2]) < 0.4
    assert np.mean(shares[-5:]) > 0.8


def test_same_seed_same_learner_and_another_another() -> None:
    def drawn(seed: int) -> list[list[int]]:
        return (
            Ppo(grid(20e3), 4, PpoSettings(), seed)
            .act(np.ones((50, 4)), Heads(grid(20e3), np.full(50, 5e6)))[0]
            .tolist()
        )

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_equation_13_lowers_the_clip_after_50_updates() -> None:
    learner = Ppo(grid(20e3), 4, PpoSettings(clip_decays=True), seed=1)
    clips = []
    for learner.updates in (50, 100):
        clips.append(learner.clip)
    assert clips == pytest.approx([0.2, 0.2 * 0.99**2])


def test_guard_falls_back_and_comes_back() -> None:
    guard = Guard(bound=0.2)

    def window(reward: float) -> bool:
        for _ in range(WINDOW):
            guard.look(reward)
        return guard.static

    assert [window(one) for one in (0.8, 0.7)] == [False, False]  # 0.7 is above 80 % of 0.8
    assert window(0.6)
    assert not window(0.5)  # under static thresholds it is even worse: the traffic is harder, not the policy
    assert not window(0.45)
    assert window(0.3)
    assert guard.falls == 2


def test_online_learns_and_falls_back_to_static(tmp_path: Path) -> None:
    one = tuner("pet", tmp_path, {0: 3.0}, ports(), online=True, explore=0.5)
    first, seen = one.initial(), set()
    for number in range(3 * WINDOW):
        bad = number >= 2 * WINDOW
        sample = slot(first, mean_queue=5e6 if bad else 0.0, tx_rate=0.0 if bad else 20e9)
        decided = one.on_slot(number * 1e-4, sample)
        seen.add(float(decided.kmin[0]))
    assert one.learner.ppo.updates == 2  # each of 32 slots; the first slot ends nothing that was decided
    assert len(seen) > 1  # it explored
    assert one.report["static"] == 1
    assert (decided.kmin[0], decided.kmax[0], decided.pmax[0]) == (80e3, 320e3, 0.2)


def test_switches_draw_apart_and_again_the_same(tmp_path: Path) -> None:
    def drawn(switch: str) -> list[float]:
        at = ports()
        names = tuple(name.replace("s1", switch) for name in at.name)
        one = tuner("pet", tmp_path, {}, type(at)(names, at.rate, at.buffer, at.base_rtt), online=True, explore=1)
        return [float(one.on_slot(k * 1e-4, slot(SECN2)).kmin[0]) for k in range(10)]

    assert drawn("leaf1") == drawn("leaf1")
    assert drawn("leaf1") != drawn("leaf2")


def test_exploration_decays_after_50_slots(tmp_path: Path) -> None:
    """Equation 13: 0.99 ** (t / 50)."""
    one = tuner("pet", tmp_path, {}, ports(), online=True)
    found = []
    for one.learner.slots in (0, 50, 100):
        found.append(one.learner.exploration)
    assert found == pytest.approx([0.2, 0.2, 0.2 * 0.99**2])
