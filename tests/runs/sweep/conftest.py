"""A sweep that has been begun."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.results.sweep_plan import Plan
from testbed.runs.sweep import prepare
from testbed.runs.sweep.grid import Request


@pytest.fixture
def begun(tmp_path: Path) -> tuple[Path, Plan]:
    request = Request.parse("incast-8", "dcqcn,swift", "", [], repeat=2, seed=None)
    return prepare.place(tmp_path / "out", prepare.planned(request, 1, ["testbed", "sweep"]))
