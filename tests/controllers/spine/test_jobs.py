"""`testbed train spine`: what it writes, what it refuses, and that a seed gives the same policy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from testbed_controllers.learned.checks import mean_reward
from testbed_controllers.spine import evaluate
from testbed_controllers.spine.controller import POLICIES
from testbed_controllers.spine.evaluate import Figures, failure, measure
from testbed_controllers.spine.job_train import TRAIN
from testbed_controllers.spine.policy import Policy
from testbed_controllers.spine.training_settings import Settings

from testbed.sdk.jobs import JobContext
from tests.support.commands import command
from tests.support.lazily import Lazily

torch, ppo = Lazily("torch"), Lazily("testbed_controllers.spine.ppo")
training = Lazily("testbed_controllers.spine.training")

SHORT = {"episodes": 2, "copies": 1, "intervals": 4, "senders": [2, 16], "check_every": 1, "attempts": 1}


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is played to a policy that is not to be judged by it."""
    monkeypatch.setattr(evaluate, "COPIES", 1)


@pytest.mark.usefixtures("little")
def test_what_a_training_writes(tmp_path: Path) -> None:
    """Two episodes teach nothing that is worth a trigger's price."""
    result = TRAIN.run(Settings.model_validate({**SHORT, "cost": 1}), JobContext(tmp_path))
    assert result.refused.startswith("no seed of 1 passed: mean reward ")
    log = json.loads((tmp_path / "training.json").read_text())
    assert not log["passes"]
    assert [check["episode"] for check in log["attempts"][0]["checks"]] == [1, 2]
    assert Policy.load(tmp_path / "policy.json").training["seed"] == 1


@pytest.mark.usefixtures("little")
def test_the_same_seed_gives_the_same_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "PHASE", 4)  # how good it is, is not asked
    monkeypatch.setattr(evaluate, "STEADY", 2)
    settings = Settings.model_validate(SHORT)
    first, second = (training.train(settings)[0].checks[-1].policy for _ in range(2))
    for name, weights in first.weights.items():
        np.testing.assert_array_equal(weights, second.weights[name])


def test_advantages_sum_errors_to_come() -> None:
    """By hand for three intervals of one flow."""
    reward, values = torch.tensor([[1.0], [0.0], [2.0]]), torch.tensor([[0.5], [1.0], [0.25], [4.0]])
    errors = [1 + ppo.DISCOUNT - 0.5, ppo.DISCOUNT * 0.25 - 1, 2 + ppo.DISCOUNT * 4 - 0.25]
    fall = ppo.DISCOUNT * ppo.TRACE
    expected = [errors[0] + fall * (errors[1] + fall * errors[2]), errors[1] + fall * errors[2], errors[2]]
    assert ppo.advantages(reward, values)[:, 0].tolist() == pytest.approx(expected)


def test_the_shipped_policy_says_how_it_was_made() -> None:
    log = json.loads((POLICIES / "training.json").read_text())
    assert log["passes"]
    assert [one["seed"] for one in log["attempts"]] == [1, 2, 3]
    assert Policy.load(POLICIES / "policy.json").training == {key: log[key] for key in ("seed", "episode", "command")}
    assert all(one["triggers"] < 0.05 for one in log["figures"])
    assert sum(one.stat().st_size for one in POLICIES.iterdir()) < 200_000


def test_the_shipped_log_is_of_the_gates_as_they_are() -> None:
    """Each seed's choice and verdict, and the choice among seeds; the policy in its file, which is rounded, passes."""
    log = json.loads((POLICIES / "training.json").read_text())
    least = mean_reward(measure(None, log["settings"]["cost"]))
    policy = Policy.load(POLICIES / "policy.json")
    attempts = []
    for one in log["attempts"]:
        checks = [
            training.SpineCheck(check["episode"], 0, [Figures(**figures) for figures in check["figures"]], policy)
            for check in one["checks"]
        ]
        attempt = training.Attempt(one["seed"], least, checks)
        assert (attempt.best.number, attempt.failure) == (one["best"], one["failure"])
        attempts.append(attempt)
    chosen = max(attempts, key=lambda one: mean_reward(one.best.figures))
    assert (chosen.seed, chosen.best.number) == (log["seed"], log["episode"])
    assert not failure(measure(policy, log["settings"]["cost"]), least)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["train", "spine", "--set", "credit=mine"], "option 'credit'"),
        (["run", "incast-2", "--controller", "spine", "--set", "controller.policy=none.json"], "none.json"),
        (["run", "incast-2", "--controller", "spine", "--set", "controller.law=square"], "controller.law"),
    ],
)
def test_bad_input_is_one_message(arguments: list[str], says: str, tmp_path: Path) -> None:
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_damaged_policy_is_refused(tmp_path: Path) -> None:
    content = json.loads((POLICIES / "policy.json").read_text())
    content["weights"]["head"] = content["weights"]["head"][:3]
    (tmp_path / "policy.json").write_text(json.dumps(content))
    done = command("run", "incast-2", "--controller", "spine", "--set", "controller.policy=policy.json", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "weights have shapes" in done.stderr
