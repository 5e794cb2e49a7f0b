"""`testbed score`: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands import command


def test_a_new_controller_has_a_score_that_is_in_the_json_with_its_parts(tmp_path: Path) -> None:
    assert command("new", "controller", "mine", cwd=tmp_path).returncode == 0
    done = command("score", "./mine.py", "--seed", "3", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["controller"], told["suite"], told["seed"], told["reasons"]) == ("./mine.py", "quick", 3, [])
    assert 0 < told["score"] < 100
    assert all(0 < value <= 1 for value in told["parts"].values())
    assert {name for run in told["runs"] for name in run["parts"]} == set(told["parts"])


def test_a_cheat_is_0_points_with_the_reason_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import time\n")
    done = command("score", "./mine.py", cwd=tmp_path)
    assert done.returncode == 0
    assert "score 0.00 of 100" in done.stdout
    assert f"0 because {tmp_path}/mine.py, line 1: 'time' may not be imported" in done.stdout


def test_what_cannot_be_scored_is_refused(tmp_path: Path) -> None:
    for arguments, said in {
        ("hpc",): "did you mean 'hpcc'",
        ("hpcc", "--suite", "quik"): "--suite quik: there is none; did you mean 'quick'",
        ("./none.py",): "No such file",
    }.items():
        done = command("score", *arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
