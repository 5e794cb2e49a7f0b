"""PET's reward, actions and guard, by hand; its learner on a problem whose answer is known."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from testbed_plugins.learned.environment import Environment
from testbed_plugins.learned.mlp import layers_of
from testbed_plugins.learned.tuner import FIRST
from testbed_plugins.pet import PMAX, grid
from testbed_plugins.pet.decision import Heads
from testbed_plugins.pet.guard import WINDOW, Guard
from testbed_plugins.pet.online import ADOPTED, TRAJECTORY
from testbed_plugins.pet.ppo import Ppo, PpoSettings, Trajectories
from testbed_plugins.pet.reward import WEIGHTS, reward
from testbed_plugins.pet.settings import Settings
from testbed_plugins.pet.training import Training

from testbed.errors import BadInput
from testbed.registry import find
from testbed.tuner import Thresholds
from tests.support.slots import ports, slot, tuner

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


def test_a_row_that_is_left_over_alone_is_left_out() -> None:
    """Advantages are scaled by their deviation, and one has none: all weights would be nan."""
    n = 3
    heads, features = Heads(grid(20e3), np.full(n, 12e6)), np.ones((n, 4))
    learner = Ppo(grid(20e3), 4, PpoSettings(batch=2), seed=1)
    actions, log_prob, values = learner.act(features, heads)
    seen = (features, actions, log_prob, np.arange(n, dtype=float), values)
    learner.update(Trajectories(*(one[None] for one in seen), learner.values(features)), heads, 0.0)
    assert np.isfinite(learner.scores(features)).all()


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


def test_guard_measures_static_first_falls_back_and_comes_back() -> None:
    guard = Guard(bound=0.2)

    def spent(reward: float, windows: int = 1) -> bool:
        for _ in range(windows * WINDOW):
            guard.look(reward)
        return guard.static

    assert guard.static
    assert not spent(0.8)  # the static thresholds' reward: the reference
    assert not spent(0.65)  # above 80 % of it
    assert spent(0.6)
    assert not spent(0.5)  # under static thresholds it is even worse: the traffic is harder, not the policy
    assert not spent(0.45)
    assert spent(0.3)
    assert guard.falls == 2
    assert spent(0.5)  # the second fall lasts for two windows
    assert not spent(0.5)


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
    for number in range(WINDOW + TRAJECTORY + ADOPTED):
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
    with pytest.raises(BadInput, match=r"training needs the package torch: pip install 'cc-testbed\[train\]'"):
        tuner("pet", tmp_path, {}, ports(), online=True)
    assert tuner("pet", tmp_path, {}, ports()).learner is None


def test_the_ablation_has_policies_of_its_own() -> None:
    form = find("tuner", "pet").form
    seeing, blind = (form(form.Config(flows=flows), ports()) for flows in (True, False))
    assert (seeing.file.name, blind.file.name) == ("websearch.onnx", "websearch-without-flows.onnx")
    assert blind.observation.append(slot(SECN2)).shape == (3, seeing.observation.append(slot(SECN2)).shape[1] - 3 * 2)


def test_what_others_gained_from_the_same_traffic_is_taken_off() -> None:
    """Two traffics, two copies each, as ports 0 and 2, 1 and 3."""
    training = Training(Settings(ports=4, copies=2), "websearch")
    assert training._against_copies(np.array([0.5, 0.9, 0.7, 0.9])) == pytest.approx([-0.2, 0, 0.2, 0])


def test_copies_get_the_same_traffic() -> None:
    environment = Environment("websearch", 5, ports=4, copies=2)
    environment.reset(Thresholds.uniform(4, 20e3, 40e3, 1.0))
    for _ in range(20):
        environment.advance()
    size = environment.fluid.layout.size.reshape(4, -1)
    assert np.array_equal(size[:2], size[2:])
    assert not np.array_equal(size[0], size[1])
