"""`testbed train aurora|ppo|reinforce`: what they write runs, and says how it was made; bad files are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from testbed_controllers.baselines import Aurora, Ppo, Reinforce
from testbed_controllers.baselines import jobs as made
from testbed_controllers.baselines.shipped import POLICIES, SEEDS

from testbed.errors import BadInput
from testbed.sdk.jobs import JobContext, JobSet

SHORT: dict[str, tuple[JobSet, Any, dict[str, Any]]] = {
    "ppo": (made.PPO_JOBS, Ppo, {"updates": 3, "copies": 1}),
    "reinforce": (made.REINFORCE_JOBS, Reinforce, {"updates": 3, "copies": 1}),
    "aurora": (made.AURORA_JOBS, Aurora, {"decisions": 100, "rollout": 8, "senders": [1, 2], "episode": "1 ms"}),
}


@pytest.mark.parametrize("name", SHORT)
def test_a_training_writes_a_policy_that_runs_and_how_it_was_made(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made, "CHECKED", ())
    jobs, form, options = SHORT[name]
    train, loaded = jobs.jobs["train"], []
    for number in (1, 2):  # the same seed
        folder = tmp_path / str(number)
        folder.mkdir()
        train.run(train.Config.model_validate(options), JobContext(folder, command="testbed train"))
        assert [one.name for one in folder.iterdir()] == ["policy.json"]
        loaded.append(form.load(form.Config(policy=str(folder / "policy.json"))))
    for first, second in zip(loaded[0].weights, loaded[1].weights, strict=True):
        np.testing.assert_array_equal(first, second)
    log = loaded[0].training
    assert log["command"] == "testbed train"
    assert log["settings"]["seed"] == 1
    assert len(log["history"]) >= 3
    assert set(log["versions"]) >= {"numpy", "torch", "stable_baselines3"}


def test_the_shipped_policies_say_how_they_were_made() -> None:
    for name in SHORT:
        for seed in SEEDS:
            log = json.loads((POLICIES / f"{name}-{seed}.json").read_text())["training"]
            assert log["command"].startswith(f"testbed train {name} --seed {seed}")
            assert log["settings"]["seed"] == seed
            assert len(log["figures"]) == 4
            assert log["cpu_seconds"] < 300
    assert sum(one.stat().st_size for one in POLICIES.iterdir()) < 500_000


def test_a_bad_policy_is_told(tmp_path: Path) -> None:
    content = json.loads((POLICIES / "ppo-1.json").read_text())
    file = tmp_path / "bad.json"
    for damage, said in (
        ({"hidden": "sine"}, "hidden is 'sine'"),
        ({"layers": content["layers"][:2]}, r"layers have shapes .* expected \[\(32, 5\), \(16, 33\), \(6, 17\)\]"),
        ({"layers": None}, "is damaged"),
        ({"format": "adpg-network"}, "has format 'adpg-network', expected 'layers'"),
    ):
        file.write_text(json.dumps({**content, **damage}))
        with pytest.raises(BadInput, match=said):
            Ppo.load(Ppo.Config(policy=str(file)))
