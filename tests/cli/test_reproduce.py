"""`testbed reproduce`: what it lists, and that all that was refused is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from testbed.cli import main
from testbed.engines.kernel import doctor
from testbed.results.folder import load
from testbed.results.papers import comparison
from testbed.results.papers.cells import Measured
from testbed.results.papers.comparison import load as load_mine
from testbed.runs.reproduce import measure
from tests.support.commands import command
from tests.support.comparisons import MINE


def reproduce(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["testbed", "reproduce", *arguments])
    try:
        return main.main()
    except SystemExit as end:
        return int(end.code or 0)


def test_the_command_without_a_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce(monkeypatch) == 0
    listed = capsys.readouterr().out
    assert "adpg-table-2" in listed
    assert "Table 2" in listed
    assert reproduce(monkeypatch, str(MINE), "--no-run", "--format", "json") == 0
    data = json.loads(capsys.readouterr().out)
    assert {cell["empty"] for cell in data["cells"] if cell["row"] == "C" and cell["column"] == "two"} == {
        "not implemented here"
    }
    assert reproduce(monkeypatch, str(MINE), "--dry-run") == 0
    assert "8 runs, about " in capsys.readouterr().out
    assert reproduce(monkeypatch, str(MINE), "--dry-run", "--row", "A", "--column", "two") == 0
    assert "2 runs, about " in capsys.readouterr().out
    assert reproduce(monkeypatch, str(MINE), "--no-run", "--format", "csv") == 0
    assert capsys.readouterr().out == "row,column,seed,engine,verdict,unrest,su,ql_mean,goodput,bottleneck_rate\n"
    assert reproduce(monkeypatch, str(MINE), "--row", "AA") == 2
    assert "--row AA: not in this comparison; did you mean 'A'?" in capsys.readouterr().err


def test_a_column_that_quick_leaves_out_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = (str(MINE), "--quick", "--dry-run", "--column")
    assert reproduce(monkeypatch, *asked, "two") == 0
    assert "2 runs, about " in capsys.readouterr().out
    assert reproduce(monkeypatch, *asked, "eight") == 2
    told = capsys.readouterr()
    assert "--column eight: not among those of --quick (two); leave out --quick" in told.err
    assert not told.out


def test_all_that_was_refused_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "require", lambda: None)
    monkeypatch.setattr(measure, "run", lambda *_, **__: Measured(refused=["one that cannot be slower"]))
    file = tmp_path / "mine.yaml"
    file.write_text(MINE.read_text().replace("traffic.senders: 2", "traffic.sender: 2"))
    assert reproduce(monkeypatch, str(file), "--out", str(tmp_path / "out"), "--format", "json") == 0
    first, second, last = json.loads(capsys.readouterr().out)["refused"]
    assert "traffic.sender: no such key" in first
    assert "traffic.sender: no such key" in second
    assert last == "one that cannot be slower"


def test_all_tables_are_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = MINE.with_name("other.yaml")
    monkeypatch.setattr(comparison, "names", lambda: [str(MINE), str(other)])
    monkeypatch.setattr(
        comparison, "load", lambda name: load_mine(str(MINE)).model_copy(update={"name": Path(name).stem})
    )
    assert reproduce(monkeypatch, "all", "--dry-run", "--quick") == 0
    assert "4 runs, about " in capsys.readouterr().out
    only = ("--engine", "virtual", "--quick", "--out", str(tmp_path))
    assert reproduce(monkeypatch, "all", *only) == 0
    said = capsys.readouterr().out
    assert said.index("mine: two rows") < said.index("other: two rows")
    assert load(tmp_path / "other" / "B,two,seed=1").summary.engine == "virtual"
    assert reproduce(monkeypatch, "all", "--row", "A") == 2
    assert "all: --row, --column, and --format text are for one comparison; name it" in capsys.readouterr().err


def test_a_table_on_the_virtual_engine_needs_no_root_and_none_of_the_kernels_settings(tmp_path: Path) -> None:
    only = ("--engine", "virtual", "--quick", "--row", "A", "--column", "two")
    done = command("reproduce", str(MINE), *only, "--dry-run", "--format", "json")
    (one,) = json.loads(done.stdout)
    assert "engine=virtual" in one["arguments"]
    assert not {"time.dilation=1000", "rack.calibrate=off"} & set(one["arguments"])
    done = command("reproduce", str(MINE), *only, "--jobs", "2", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "virtual engine: simulated with the rack's programs" in said
    assert "dilation" not in said
    assert load(tmp_path / "out" / "A,two,seed=1").summary.engine == "virtual"
