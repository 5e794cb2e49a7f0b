"""A run from its engine to its folder, on an engine that has its measurements already."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.engines.engine import Prepared
from testbed.errors import BadInput, TestbedError
from testbed.experiment.load import load, resolve
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
from testbed.results import folder
from testbed.results.record import EngineName, RunRecord
from testbed.results.report import html
from testbed.runs.run import execute
from tests.support.synthetic_runs import run


class Measured:
    """An engine whose runs are over at once."""

    name: EngineName = "lab"

    def __init__(self) -> None:
        self.followed = self.prepared = 0

    def check(self, resolved: Resolved) -> None:
        if resolved.experiment.hosts > 5:
            raise BadInput("too many hosts")

    def prepare(self, resolved: Resolved, _audience: Observer) -> Prepared:
        self.prepared += 1
        return Prepared(resolved, {"delay_by": "nothing"})

    def follow(self, _prepared: Prepared, *_: object) -> RunRecord:
        self.followed += 1
        return run()


class Heard(Observer):
    def __init__(self) -> None:
        self.said: list[str] = []

    def on_stage(self, text: str) -> None:
        self.said.append(text)


def small(*settings: str) -> Resolved:
    return resolve(load("incast-2").apply(settings))


def test_results_are_those_of_the_engine(tmp_path: Path) -> None:
    heard = Heard()
    outcome = execute(Measured(), small(), tmp_path / "out", heard)
    kept = folder.load(outcome.folder)
    assert outcome.folder == tmp_path / "out"
    assert kept.summary.to_json() == outcome.summary.to_json()
    assert kept.manifest.engine == "lab"
    assert kept.manifest.kernel_features == {"delay_by": "nothing"}
    assert (outcome.folder / "report.html").stat().st_size > 10_000
    assert heard.said == ["writing results"]


def test_without_a_report_nothing_is_drawn(tmp_path: Path) -> None:
    outcome = execute(Measured(), small("record.report=false"), tmp_path / "out", Observer())
    assert not (outcome.folder / "report.html").exists()
    assert (outcome.folder / "summary.json").exists()


def test_what_an_engine_refuses_is_not_run(tmp_path: Path) -> None:
    engine = Measured()
    with pytest.raises(BadInput, match="too many hosts"):
        execute(engine, small("traffic.senders=8"), tmp_path / "out", Observer())
    assert engine.followed == 0
    assert not (tmp_path / "out").exists()


def test_without_a_compiler_decisions_are_refused_before_anything_is_rolled_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of an object in Python as well, which needs none for itself; without decisions it runs."""
    recorded, not_recorded = small(), small("record.decisions=0", "record.report=false")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("TESTBED_CACHE", str(tmp_path / "cache"))
    engine = Measured()
    with pytest.raises(TestbedError, match=r"a C compiler is needed, .*; run: apt install gcc"):
        execute(engine, recorded, tmp_path / "out", Observer())
    assert engine.prepared == 0
    assert not (tmp_path / "out").exists()
    execute(engine, not_recorded, tmp_path / "out", Observer())
    assert engine.followed == 1


def test_a_report_that_fails_does_not_lose_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> str:
        raise ValueError("no such colour")

    monkeypatch.setattr(html, "render", crash)
    with pytest.raises(TestbedError, match=r"results are in .*out, but their report failed:[^$]*no such colour"):
        execute(Measured(), small(), tmp_path / "out", Observer())
    assert folder.load(tmp_path / "out").summary.flows == 2
