"""PET that goes on learning in a run: thresholds that change by it, and the guard that takes them back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from testbed.results.folder import read_table
from testbed.results.report import tuned
from testbed.results.tables import TUNERS
from tests.support.lazily import needs_torch
from tests.support.runs import VIRTUAL, run
from tests.support.slots import made

pytestmark = needs_torch

STATIC = (80e3, 320e3, 0.2)  # in force in the baseline and where the guard has acted
KMIN, KMAX, PMAX = 0, 10, 20  # where PET's heads begin


def played(folder: Path, scores: dict[int, float], **options: str) -> tuple[list[tuple[str, tuple[float, ...]]], Any]:
    """The states of the only switch, each with the bottleneck's thresholds at its end; and the manifest's entry."""
    _, policy = made("pet", folder, scores)
    settings = {"record.report": "on", "tuner.online": "true", "tuner.policy": str(policy["policy"]), **options}
    asked = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    experiment = ("incast-8", "--controller", "dcqcn", "--tuner", "pet", "--duration", "8.5 ms")
    results = folder / "out"
    summary = run(results, *experiment, *asked, *VIRTUAL)  # 100 slots
    (log,) = tuned.read(results / TUNERS)
    samples = read_table(results / "port_series.parquet").to_pylist()
    series = [one for one in samples if one["port"] == summary["bottleneck"]]
    times = np.array([one["time"] for one in series])
    found: list[tuple[str, tuple[float, ...]]] = []
    for number, state in enumerate(log.states):
        if number + 1 == len(log.states) or log.states[number + 1] != state:
            end = log.time[number + 1] if number + 1 < len(log.states) else np.inf
            last = series[max(int(np.searchsorted(times, end - 5e-6)) - 1, 0)]
            found.append((state, tuple(last[name] for name in ("kmin", "kmax", "pmax"))))
    manifest = json.loads((results / "manifest.json").read_text())
    assert "Reward of the tuner</h3>" in (results / "report.html").read_text()
    return found, manifest["tuners"][0]


def test_thresholds_change_by_what_was_learned(tmp_path: Path) -> None:
    """A policy without a preference takes the first of every head. An update breaks the tie, and stays when frozen."""
    first = (20e3, 40e3, 0.05)
    options = {"tuner.explore": "100 %", "tuner.guard": "100 %", "tuner.learn": "73"}
    found, told = played(tmp_path, {}, **options)
    assert [state for state, _ in found] == ["baseline", "exploring", "frozen"]
    assert found[0][1] == pytest.approx(STATIC)
    assert found[-1][1] != pytest.approx(first)
    assert told["refusals"] == 0
    assert set(told["states"]) == {"baseline", "exploring", "frozen"}


def test_the_guard_takes_a_bad_policy_back(tmp_path: Path) -> None:
    """Marking from 1280 kB on means never with windows of one BDP: the queue stands at 0.7 MB, and the reward falls."""
    # DCQCN takes milliseconds to win back what the baseline's marks have cut, so larger steps.
    options = {"tuner.guard": "10 %", "controller.additive": "5 Gbit/s"}
    found, told = played(tmp_path, {KMIN + 6: 9.0, KMAX + 7: 9.0, PMAX: 9.0}, **options)
    assert [state for state, _ in found[:3]] == ["baseline", "exploring", "fallen back"]
    assert found[2][1] == pytest.approx(STATIC)
    assert told["states"]["fallen back"] >= 1
