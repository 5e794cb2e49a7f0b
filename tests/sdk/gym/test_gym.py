"""Environments: the checks of the libraries that use them, the same episode for the same seed, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testbed.errors import BadInput
from testbed.sdk.gym import make
from testbed.sdk.gym.steered import SteeredBatch
from testbed.sdk.gym.virtual import VirtualSession

SHORT = ("time.duration=200 us", "time.warmup=50 us", "controller.start_rate=20 %")
ENGINES = ("fluid", "virtual")


@pytest.mark.parametrize("engine", ENGINES)
def test_libraries_accept_it(engine: Any) -> None:
    # Here, and not in every process that collects tests: they take a second.
    from gymnasium.utils.env_checker import check_env
    from pettingzoo.test import parallel_api_test
    from stable_baselines3.common.env_checker import check_env as check_for_sb3

    parallel_api_test(make("incast-8", form="parallel", engine=engine, controller="adpg-nn", settings=SHORT), 50)
    joint = make("incast-8", form="single", engine=engine, controller="adpg-nn", settings=SHORT)
    check_env(joint, skip_render_check=True)
    check_for_sb3(joint)


def episode(engine: Any, seed: int) -> tuple[np.ndarray, ...]:
    env = make("incast-8", form="single", engine=engine, controller="adpg-nn", settings=SHORT)
    rng = np.random.default_rng(1)
    seen, gained, over = [env.reset(seed=seed)[0]], [], False
    while not over:
        observed, reward, _, over, _ = env.step(rng.uniform(-1, 1, env.action_space.shape))
        seen.append(observed)
        gained.append(reward)
    return np.array(seen), np.array(gained)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_seed_is_an_episode(engine: Any) -> None:
    (seen, gained), (again, gained_again) = episode(engine, 7), episode(engine, 7)
    assert len(gained) >= 3
    assert np.array_equal(seen, again)
    assert np.array_equal(gained, gained_again)


@pytest.mark.parametrize("engine", ENGINES)
def test_pettingzoo_finds_seeds_to_repeat(engine: Any) -> None:
    from pettingzoo.test import parallel_seed_test

    parallel_seed_test(
        lambda: make("incast-8", form="parallel", engine=engine, controller="adpg-nn", settings=SHORT), 5
    )


@pytest.mark.parametrize("start", ["1.5 %", "100 %"])  # of line rate: a fair share, and a full buffer of 50 RTTs
@pytest.mark.parametrize("engine", ENGINES)
def test_python_is_entered_per_step_and_not_per_flow(engine: Any, start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once more at most than there are steps: for a tuner's slot, or a flow that is late."""
    settings = ("time.duration=5 ms", "time.warmup=50 us", f"controller.start_rate={start}")
    env = make("incast-64", engine=engine, controller="adpg-nn", settings=settings)
    env.seed(1)
    env.reset()
    heard, on_feedback = [], SteeredBatch.on_feedback

    def count(self: SteeredBatch, now: float, flows: Any, feedback: Any) -> None:
        heard.append(now)
        on_feedback(self, now, flows, feedback)

    monkeypatch.setattr(SteeredBatch, "on_feedback", count)
    for _ in range(5):
        infos = env.step(np.full((64, 1), -1.0))[3]
        assert sum(info["due"] for info in infos) >= 32
    assert len(heard) <= 5 + 1


def test_nothing_that_came_back_is_kept_from_the_controller(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the virtual engine, whose C sums packets up: ACKs and losses of an overload, to the packet."""
    heard = np.zeros((2, 64), np.int64)

    def count(self: SteeredBatch, now: float, flows: Any, feedback: Any) -> None:
        heard[:, flows] += feedback.acked_packets, feedback.lost_packets
        on_feedback(self, now, flows, feedback)

    on_feedback = SteeredBatch.on_feedback
    monkeypatch.setattr(SteeredBatch, "on_feedback", count)
    settings = ("time.duration=4 ms", "time.warmup=50 us")  # 64 windows of 1.5 BDP into a buffer of 49
    env = make("incast-64", engine="virtual", controller="adpg-nn", settings=settings)
    env.reset()
    for _ in range(4):
        env.step(np.full((64, 1), 1.0))
    assert isinstance(env.flows.session, VirtualSession)
    flows = env.flows.session.flows
    assert flows.lost.sum() > 1000
    assert np.array_equal(heard, [flows.acked, flows.lost])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("controller", ["adpg-nn", "adpg"])
def test_actions_decide(engine: Any, controller: str) -> None:
    """All slower: the queue goes, and the signal is what an idle link has, -0.8 (-12.5 times the target)."""
    env = make("incast-8", engine=engine, controller=controller, settings=SHORT)
    env.reset()
    while env.flows.now < 160e-6:
        observed = env.step(np.full((8, 1), -1.0))[0]
    assert observed[:, 3] == pytest.approx(-0.8)


def test_what_makes_no_sense_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match=r"engine 'kernel' cannot be an environment.*allowed: fluid, virtual"):
        make("incast-8", engine="kernel", controller="adpg-nn")  # type: ignore[call-overload]
    with pytest.raises(BadInput, match=r"controller 'dcqcn' declares no observation.*adpg-nn"):
        make("incast-8", controller="dcqcn")


def test_compiled_controllers_are_trained_as_they_are() -> None:
    """The rate goes up and down with the action, and the observation is the multiplier and x of what was decided."""
    env = make("incast-8", controller="adpg", settings=SHORT)
    env.reset()
    for _ in range(8):
        observed = env.step(np.full((8, 1), 0.84))[0]
    assert observed[:, 3] == pytest.approx(-0.8)  # the queue has gone
    assert observed[:, 2] == pytest.approx(0.84)
    flows = env.flows.session.controller.flows  # type: ignore[union-attr]
    share = flows.records["share"].copy()
    env.step(np.full((8, 1), 1.1))
    assert flows.records["share"] == pytest.approx(1.1 * share)


@pytest.mark.parametrize("engine", ENGINES)
def test_environments_side_by_side_are_those_they_are_made_of(engine: Any) -> None:
    """Alone each runs to its end before the next begins. The compiled world of a process is one of theirs at a time."""
    from testbed.sdk.gym.joined import JoinedFlows  # with torch

    names, multipliers = ("incast-2", "incast-8"), (0.9, 1.05, 0.85)
    alone = []
    for number, name in enumerate(names):
        one = make(name, engine=engine, controller="adpg", settings=SHORT)
        one.seed(5 + 10 * number)
        alone.append([(one.reset(), None), *(one.step(np.full((one.num_envs, 1), by))[:2] for by in multipliers)])
        one.close()
    joined = JoinedFlows([make(name, engine=engine, controller="adpg", settings=SHORT) for name in names])
    assert joined.num_envs == 10
    joined.seed(5)
    first, *later = zip(*alone, strict=True)
    assert np.array_equal(joined.reset(), np.concatenate([seen for seen, _ in first]))
    for multiplier, apart in zip(multipliers, later, strict=True):
        seen, rewards, done, infos = joined.step(np.full((10, 1), multiplier))
        assert np.array_equal(seen, np.concatenate([one[0] for one in apart]))
        assert np.array_equal(rewards, np.concatenate([one[1] for one in apart]))
        assert not done.any()
        assert len(infos) == 10
