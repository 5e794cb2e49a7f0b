"""The notebook of docs/reference/python.md runs as it is, and `make notebooks` writes one of each tutorial."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import notebooks
from testbed.base.compiler import cache_folder
from tests.support.checkout import ROOT
from tests.support.commands import command

NOTEBOOK = ROOT / "docs/notebook.py"


def test_it_has_ten_cells() -> None:
    assert NOTEBOOK.read_text().count("@app.cell\n") == 10


@pytest.mark.slow
def test_it_goes_from_a_controller_to_a_figure_that_others_can_repeat(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    for program in cache_folder().glob("*.so"):  # compiling again would show nothing
        (cache / program.name).symlink_to(program)
    environment = {**os.environ, "TESTBED_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, NOTEBOOK], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name in ("queues.pdf", "throughput.pdf"):
        assert (tmp_path / name).read_bytes().startswith(b"%PDF")
    shutil.rmtree(cache / "plugins")
    (report,) = tmp_path.glob("results/incast-8-Mine-*/report.html")
    again = command("rerun", str(report), "--trust", "--metrics-addr", "none", cwd=tmp_path)
    assert (again.returncode, again.stdout.partition(":")[0]) == (0, "equal"), again.stderr


def test_each_tutorial_becomes_a_notebook(tmp_path: Path) -> None:
    """What it types is what `test_start` walks; marimo finds no cycle and no name that two cells define."""
    files = notebooks.write(tmp_path)
    assert len(files) == len(notebooks.PAGES) > 3
    done = subprocess.run(
        [sys.executable, "-m", "marimo", "check", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
