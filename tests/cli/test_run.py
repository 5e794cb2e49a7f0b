"""`testbed run`, up to where a rack would be built."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from tests.support.commands import command


def test_dry_run_applies_overrides_and_builds_nothing(tmp_path: Path) -> None:
    arguments = ["--controller", "fixed", "--duration", "6 ms", "--dilation", "500", "--seed", "9", "--out", "here"]
    done = command("run", "incast-8", "--dry-run", *arguments, "--set", "traffic.senders=4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = yaml.safe_load(done.stdout)
    assert shown["controller"]["name"] == "fixed"
    assert shown["traffic"]["senders"] == 4
    assert shown["time"] == {"duration": "6 ms", "warmup": "2 ms", "dilation": 500.0}
    assert shown["seed"] == 9
    assert list(tmp_path.iterdir()) == []


def test_auto_is_not_measured_before_a_run() -> None:
    done = command("run", "incast-8", "--dry-run", "--dilation", "auto")
    assert yaml.safe_load(done.stdout)["time"]["dilation"] == "auto"
    assert done.stderr == ""


def test_set_adds_to_the_chosen_controller() -> None:
    done = command("run", "incast-8", "--dry-run", "--controller", "dcqcn", "--set", "controller.preset=nic")
    assert yaml.safe_load(done.stdout)["controller"]["preset"] == "nic"


@pytest.mark.root
@pytest.mark.parallel
def test_run_without_root_says_how(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o755)  # noqa: PTH101
    done = command("run", "incast-8", user=65534)
    assert done.returncode == 1
    assert done.stderr == "testbed: a rack needs root; run it with sudo: sudo testbed run ...\n"
