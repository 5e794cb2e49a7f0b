"""Environments: the checks of the libraries that use them, the same episode for the same seed, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test
from stable_baselines3.common.env_checker import check_env as check_for_sb3

from testbed.errors import BadInput
from testbed.sdk.gym import make
from testbed.sdk.gym.joined import JoinedFlows

SHORT = ("time.duration=200 us", "time.warmup=50 us", "controller.start_rate=20 %")
ENGINES = ("fluid", "virtual")


@pytest.mark.parametrize("engine", ENGINES)
def test_libraries_accept_it(engine: Any) -> None:
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
def test_actions_decide(engine: Any) -> None:
    """All slower: the queue goes, and the signal is what an idle link has, -0.8 (-12.5 times the target)."""
    env = make("incast-8", engine=engine, controller="adpg-nn", settings=SHORT)
    env.reset()
    for _ in range(6):
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
    flows = env.flows._session.controller.flows  # type: ignore[union-attr]
    share = flows.records["share"].copy()
    env.step(np.full((8, 1), 1.1))
    assert flows.records["share"] == pytest.approx(1.1 * share)


def test_environments_side_by_side_are_those_they_are_made_of() -> None:
    parts = [make(name, controller="adpg", settings=SHORT) for name in ("incast-2", "incast-8")]
    alone = [make(name, controller="adpg", settings=SHORT) for name in ("incast-2", "incast-8")]
    joined = JoinedFlows(parts)
    assert joined.num_envs == 10
    joined.seed(5)
    for number, one in enumerate(alone):
        one.seed(5 + 10 * number)
    assert np.array_equal(joined.reset(), np.concatenate([one.reset() for one in alone]))
    for multiplier in (0.9, 1.05, 0.85):
        seen, rewards, done, infos = joined.step(np.full((10, 1), multiplier))
        apart = [one.step(np.full((one.num_envs, 1), multiplier)) for one in alone]
        assert np.array_equal(seen, np.concatenate([one[0] for one in apart]))
        assert np.array_equal(rewards, np.concatenate([one[1] for one in apart]))
        assert not done.any()
        assert len(infos) == 10
