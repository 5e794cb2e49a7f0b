"""`testbed train decc` and `distil decc`: what they write, and that a policy that misses the gates is not kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from testbed_controllers.decc import evaluate, visited
from testbed_controllers.decc.controller import POLICIES
from testbed_controllers.decc.distillation import Settings as Distillation
from testbed_controllers.decc.distillation import acting
from testbed_controllers.decc.job_distil import DISTIL
from testbed_controllers.decc.job_train import TRAIN
from testbed_controllers.decc.network import Network
from testbed_controllers.decc.training_settings import Settings
from testbed_controllers.decc.tree import Trees
from testbed_controllers.learned import checks

from testbed.sdk.jobs import JobContext
from tests.support.commands import command
from tests.support.lazily import Lazily

training = Lazily("testbed_controllers.decc.training")

SHORT = {"updates": 40, "critics_first": 20, "copies": 2, "check_every": 20, "tune_updates": 30, "attempts": 1}


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is played to a policy: enough to see that it is a bad one."""
    monkeypatch.setattr(evaluate, "COPIES", 1)
    monkeypatch.setattr(evaluate, "PERIODS", 40)
    monkeypatch.setattr(visited, "STATES", 25)


@pytest.mark.usefixtures("little")
def test_a_policy_that_has_not_learnt_is_refused(tmp_path: Path) -> None:
    settings = Settings.model_validate({**SHORT, "warm_start": False})
    result = TRAIN.run(settings, JobContext(tmp_path))
    assert result.refused.startswith("no seed of 1 passed: with 2 flows")
    log = json.loads((tmp_path / "training.json").read_text())
    assert not log["passes"]
    assert [check["update"] for check in log["attempts"][0]["checks"]] == [0, 40]
    assert Network.load(tmp_path / "network.json").training["seed"] == 1
    zeros = np.concatenate([one.reshape(-1) for one in Network.load(tmp_path / "quantised.json").weights]) == 0
    assert zeros.mean() >= 0.64


@pytest.mark.usefixtures("little")
def test_the_same_seed_gives_the_same_network() -> None:
    less = {"updates": 10, "critics_first": 5, "check_every": 10}
    settings = Settings.model_validate({**SHORT, **less, "warm_start": False})
    first, second = (training.train(settings)[-1].checks[-1].policy for _ in range(2))
    for mine, other in zip(first.weights, second.weights, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.usefixtures("little")
def test_few_trees_are_refused(tmp_path: Path) -> None:
    """Two trees of two questions cannot hold a queue."""
    settings = Distillation(trees=2, depth=2, attempts=1, rounds=1, rows=2000)
    result = DISTIL.run(settings, JobContext(tmp_path))
    assert result.refused.startswith("no trees of 1 were accepted: with ")
    assert Trees.load(tmp_path / "trees.json").leaves.shape == (2, 4)


def test_shipped_policies_say_how_they_were_made() -> None:
    """And what they were accepted for: the gates, the reward's among them, from 2 to 64 flows."""
    log, distilled = (json.loads((POLICIES / f"{name}.json").read_text()) for name in ("training", "distilled"))
    assert log["passes"]
    assert log["compression"]["failure"] == ""
    assert distilled["accepted"]
    for logged in (log["figures"], log["compression"]["figures"], distilled["figures"]):
        assert [one["flows"] for one in logged] == list(evaluate.CHECKED)
        assert checks.failure([evaluate.Figures(**one) for one in logged]) == ""
    assert sum(one.stat().st_size for one in POLICIES.iterdir()) < 1_000_000


@pytest.mark.parametrize("form", ["network", "quantised", "trees"])
def test_the_shipped_files_pass_every_gate_of_training(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was logged is of these files: they do it again, in one bottleneck of each number of flows."""
    monkeypatch.setattr(evaluate, "COPIES", 1)
    file = POLICIES / f"{form}.json"
    figures = evaluate.measure(acting(Trees.load(file)) if form == "trees" else Network.load(file).act)
    assert min(one.reward for one in figures) >= 0.092
    assert checks.failure(figures) == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["train", "decc", "--set", "critics_first=9000"], "critics_first is not below updates"),
        (["train", "decc", "--set", "credit=mine"], "option 'credit'"),
        (["distil", "decc", "--set", "network=none.json"], "no policy file at none.json"),
        (["run", "incast-2", "--controller", "decc", "--set", "controller.policy=none.json"], "none.json"),
    ],
)
def test_bad_input_is_one_message(arguments: list[str], says: str, tmp_path: Path) -> None:
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
