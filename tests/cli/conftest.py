"""Runs that are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.comparing import Command
from tests.support.folders import results


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Three repeats of two controllers: swift has 12 less SU and 12 us less queue."""
    folder = tmp_path / "three"
    for seed, extra in enumerate((0.0, 2.0, 1.0), 1):
        results(folder / f"a{seed}", "dcqcn", seed, su=90 + extra, fr_flows=95, ql_mean=(20 + extra) * 1e-6, drops=0)
        results(folder / f"b{seed}", "swift", seed, su=78 + extra, fr_flows=95, ql_mean=(8 + extra) * 1e-6, drops=0)
    return folder
