"""`testbed train pet` from outside: how long it takes, and that an end before its end costs nothing."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from testbed_plugins.pet.settings import Settings
from testbed_plugins.pet.training import Training

from tests.support.commands import Command

OPTIONS: dict[str, Any] = {"updates": 20, "trajectory": 8, "episode": 16, "ports": 4, "batch": 16, "ablation": ()}
COMMAND = ["train", "pet", "--out", "here", "--set", "workloads=[websearch]", "--set", "ablation=[]"]
for name, value in OPTIONS.items():
    if name != "ablation":
        COMMAND += ["--set", f"{name}={value}"]


def ended(folder: Path, after: str, number: signal.Signals) -> list[str]:
    """Train until it says ``after``, then end it by a signal: what it said on stderr, which is all."""
    started = Command(*COMMAND, cwd=folder)
    started.read_until(after)
    os.kill(started.pid, number)
    assert started.wait() != 0
    return started.communicate()[1].splitlines()


def held(checkpoint: Path) -> Any:
    """Without the CPU time."""
    with np.load(checkpoint, allow_pickle=False) as arrays:
        told, *tensors = (arrays[f"arr_{number}"] for number in range(len(arrays.files)))

    def timeless(one: dict[str, Any]) -> Any:
        return {key: value for key, value in one.items() if key != "seconds"}

    return json.loads(told.tobytes(), object_hook=timeless) | {"tensors": [one.tolist() for one in tensors]}


def test_a_killed_training_goes_on_to_the_bits_of_an_unbroken_one(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    said = ended(tmp_path, "update 5:", signal.SIGKILL)
    assert re.fullmatch(r"websearch, update 5: reward \S+, about \d+ (s|min) left", said[4])
    said = ended(tmp_path, "update 20:", signal.SIGINT)
    assert said[0] == f"going on from {tmp_path / 'here'}.checkpoints"
    first = re.match(r"websearch, update (\d+): ", said[1])
    assert first
    assert int(first[1]) % 2 == 1  # after an episode of two trajectories
    assert 5 <= int(first[1]) < 20
    assert f"the same command with --out {tmp_path / 'here'} goes on" in said[-2] + said[-1]
    assert not (tmp_path / "here").exists()

    Training(Settings(workloads=("websearch",), **OPTIONS), "websearch").run(checkpoint=tmp_path / "unbroken.npz")
    files = (tmp_path / "here.checkpoints" / "websearch.npz", tmp_path / "unbroken.npz")
    resumed, unbroken = map(held, files)
    assert len(unbroken["state"]["history"]) == 20
    assert resumed == unbroken
