"""What action.yml runs, as it would run: a branch whose controller is slower than its base."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.checkout import ROOT

CONTROLLER = """\
from testbed.controller import Ack, CompiledController


class Mine(CompiledController):
    name = "mine"
    compiled = False

    def on_ack(self, ack: Ack) -> None:
        self.rate = {share} * self.path.line_rate
"""
GH = '#!/bin/sh\nprintf "%s\\n" "$@" >>gh.txt\nshift 4; cat "$1" >>gh.txt\n'


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits; the second halves the rate. For `gh`, which needs the network, a script writes what it is told."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    for share in (0.1, 0.05):
        (folder / "mine.py").write_text(CONTROLLER.format(share=share))
        git(folder, "add", "mine.py")
        git(folder, "-c", "user.name=me", "-c", "user.email=me@localhost", "commit", "--quiet", "-m", str(share))
    (tools := tmp_path / "tools").mkdir()
    (tools / "gh").write_text(GH)
    (tools / "gh").chmod(0o755)
    return folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def compared(folder: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "TESTBED": str(Path(sys.executable).with_name("testbed")), "EXPERIMENT": "incast-8", "CONTROLLER": "./mine.py",
        "ARGUMENTS": "--duration=100 us\n--set=record.report=false\n", "BASE": git(folder, "rev-parse", "HEAD^"),
        "PULL_REQUEST": "7",
        "RUNNER_TEMP": str(folder.parent), "GITHUB_STEP_SUMMARY": str(folder.parent / "summary.md"),
        "PATH": f"{folder.parent / 'tools'}:{os.environ['PATH']}",
    }  # fmt: skip
    script = ROOT / "scripts/compare_with_base"
    env = os.environ | environment | changed
    return subprocess.run([script], cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_a_slower_branch_fails_and_is_told_of(repository: Path) -> None:
    done = compared(repository, FAIL_IF="ql_mean < 0.9*baseline\n\ndrops > 0\n")
    assert done.returncode == 1, done.stderr
    assert "ql_mean < 0.9*baseline" in done.stderr
    summary = (repository.parent / "summary.md").read_text()
    assert summary.startswith("### `incast-8` beside ")
    assert "goodput" in summary
    assert (repository / "gh.txt").read_text().startswith("pr\ncomment\n7\n--body-file\n")
    assert "ql_mean < 0.9*baseline" in (repository / "gh.txt").read_text()
    assert git(repository, "worktree", "list").count("\n") == 0


def test_the_action_hands_over_what_the_script_reads() -> None:
    described = yaml.safe_load((ROOT / "action.yml").read_text())
    steps = described["runs"]["steps"]
    script = (ROOT / "scripts/compare_with_base").read_text()
    assert all(name in script for name in steps[1]["env"] if name not in ("GH_TOKEN", "GH_REPO"))
    assert not any("inputs" in step["run"] for step in steps)  # a shell reads no input as code
