"""Runs that are compared: each counts once."""

from __future__ import annotations

from pathlib import Path

from testbed.results.compare.runs import load
from tests.support.folders import results


def test_a_run_given_twice_counts_once(tmp_path: Path) -> None:
    run = results(tmp_path / "a")
    assert len(load([run, tmp_path, run.parent / "." / "a"], with_curves=False)) == 1
