"""`testbed train`, `distil` and `explain` from outside: messages, and that nothing is left half-written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from testbed.base.web import fingerprint
from testbed.errors import BadInput
from testbed.sdk.jobs import find
from tests.support.commands import Command, command

SHORT = ("--set", "updates=25", "--set", "attempts=1")  # too short for any seed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["train", "nothing"],
            "nothing is installed to train 'nothing'; allowed: acc, adpg, aurora, decc, pet, ppo, reinforce, spine",
        ),
        (["distil", "adgp"], "did you mean 'adpg'?"),
        (["train", "adpg", "--set", "sed=2"], "did you mean 'seed'?"),
        (["train", "adpg", "--set", "seed"], "expected key=value"),
        (["train", "adpg", "--preset", "papr"], "did you mean 'paper'?"),
        (["distil", "adpg", "--set", "network=none.json"], "no policy file at none.json"),
        (["explain", "adpg", "--flow", "h1-h2"], "of which run?"),
        (["explain", "adpg", "--run", "nowhere"], "no results folder at nowhere"),
        (["explain", "adpg", "--set", "trees=none.json"], "no policy file at none.json"),
        (["train", "adpg", "--out", "/proc/adpg"], "cannot be written to /proc/adpg"),
    ],
)
def test_bad_input_is_one_message_and_leaves_nothing(arguments: list[str], says: str, tmp_path: Path) -> None:
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stdout == ""
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


@pytest.mark.parametrize(
    ("job", "options", "says"),
    [
        ("train", {"updates": 3}, "option 'updates'"),
        ("train", {"target": -1}, "option 'target'"),
        ("train", {"step": 1}, "1 has no unit"),
        ("distil", {"depth": 99}, "option 'depth'"),
    ],
)
def test_an_option_that_cannot_be_is_named(job: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        find("adpg", job).configure(None, options)


def test_what_does_not_converge_is_not_kept(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = command("train", "adpg", *SHORT, "--out", "here", cwd=tmp_path)
    assert done.returncode == 1
    assert "no seed of 1 converged; nothing was kept" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_trained_policy_is_kept_with_its_log(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    arguments = ["train", "adpg", "--seed", "2", "--set", "updates=250", "--format", "json"]
    first = command(*arguments, "--out", "first", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["converged"]
    made = {file.name for file in (tmp_path / "first").iterdir()}
    assert made == {"network.json", "network.onnx", "int8.json", "training.json", "curves.svg"}
    log = json.loads((tmp_path / "first" / "training.json").read_text())
    assert log["command"].endswith("--seed 2 --set updates=250 --format json --out first")
    assert [check["update"] for check in log["attempts"][0]["history"]] == list(range(25, 251, 25))
    done = command("train", "adpg", "--out", "first", cwd=tmp_path)
    assert done.returncode == 2
    assert "never overwrite" in done.stderr


def test_an_interrupted_training_leaves_nothing(tmp_path: Path) -> None:
    """By SIGTERM; Ctrl-C is tried on PET's (tests/plugins/pet/test_jobs.py)."""
    pytest.importorskip("torch")
    started = Command("train", "adpg", "--out", "here", cwd=tmp_path)
    assert "update 25" in started.read_until("update 25").splitlines()[0]
    assert [file.name for file in tmp_path.iterdir()] != []  # it is under way
    started.terminate()
    rest = started.communicate()[1]
    assert started.returncode != 0
    assert "Traceback" not in rest
    assert list(tmp_path.iterdir()) == []


def test_the_options_are_explained(tmp_path: Path) -> None:
    done = command("train", "adpg", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0
    for word in ("smoothness=1.0: ", "--preset recipe: ", "--preset paper: "):
        assert word in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_policy_is_explained(tmp_path: Path) -> None:
    done = command("explain", "adpg", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rest = next(line.split() for line in done.stdout.splitlines() if "x stays 0 " in line)
    assert float(rest[-3]) == pytest.approx(1, abs=0.003)  # network
    assert float(rest[-2]) == pytest.approx(1, abs=0.003)  # trees: at rest nothing changes
    assert {"explained.html", "surface.svg", "trees.svg", "importance.svg"} == {
        one.name for one in (tmp_path / "here").iterdir()
    }
    text = (tmp_path / "here" / "explained.html").read_text()
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert f"script-src 'none'; style-src {fingerprint(style)}" in text
