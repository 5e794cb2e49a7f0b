"""What a node of a cluster imports before its first cell; the rest is in test_cluster.py."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from testbed.runs.sweep.node import run
from tests.support.waiting import until

HEAVY = ("numpy", "pyarrow", "pydantic", "yaml")


def test_a_nodes_worker_imports_little() -> None:
    """It does so on the core that the cell is to have; what the cell needs the cell's own process imports."""
    code = f"import sys, testbed.runs.sweep.node; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_cell_whose_worker_is_killed_leaves_no_folder(tmp_path: Path) -> None:
    """As Ray kills it: with no chance to tidy up."""
    room, folder = tmp_path / "tmp", str(tmp_path)
    room.mkdir()
    asked = ["run", "incast-2", "--engine", "virtual", "--duration", "1 s", "--metrics-addr", "none"]
    code = f"from testbed.runs.sweep import node; node.run('cell', {asked}, {folder!r})"
    worker = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"TMPDIR": str(room)})
    until(lambda: any(room.glob("testbed-cell-*/log.txt")))
    worker.kill()
    worker.wait()
    until(lambda: not any(room.glob("testbed-cell-*")))


def test_a_cell_returns_its_files_and_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    asked = ["run", "incast-2", "--engine", "virtual", "--duration", "100 us", "--metrics-addr", "none"]
    returned = run("cell", asked, str(tmp_path))
    assert returned.status == 0, returned.log
    assert "summary.json" in returned.files
    assert list(tmp_path.glob("testbed-cell-*")) == []
