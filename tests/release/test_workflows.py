"""Workflows: what they use is pinned by digest, and they may do no more than they need."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.checkout import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_all_is_pinned_and_little_permitted(file: Path) -> None:
    used = [line.strip().removeprefix("- ") for line in file.read_text().splitlines() if "uses:" in line]
    assert used
    assert [line for line in used if not PINNED.match(line)] == []
    assert yaml.safe_load(file.read_text())["permissions"] in ({}, {"contents": "read"})


def test_zizmor_finds_nothing() -> None:
    zizmor = shutil.which("zizmor", path=Path(sys.executable).parent)
    if zizmor is None:
        pytest.skip("zizmor is not installed")
    done = subprocess.run(
        [zizmor, "--offline", "--no-progress", ROOT / ".github/workflows", ROOT / "action.yml"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_recipes_that_are_called_are_there() -> None:
    called = {name for file in WORKFLOWS for name in re.findall(r"\bmake ([a-z]+)", file.read_text())}
    recipes = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"dist", "docs", "bench", "unit"} <= called <= recipes
