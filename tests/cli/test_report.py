"""`testbed report`: the report again from a results folder, and what it says when it cannot."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from testbed.cli import main
from testbed.results.report import build
from tests.support.recorded import mine, written

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six flows; four of them, the rack's 2 to 5, have a record of decisions."""
    place = tmp_path_factory.mktemp("made")
    return written(place / "run", mine(place), report=True)


@pytest.fixture
def results(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "run"))


@pytest.fixture
def testbed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["testbed", *map(str, arguments)])
        try:
            code = main.main()
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def files(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_it_is_what_the_run_wrote(testbed: Call, results: Path) -> None:
    before = files(results)
    (results / "report.html").unlink()
    assert testbed("report", results)[0] == 0
    after = files(results)
    drawn = {name for name in after if name.startswith("plots/")}
    assert {"plots/queue.svg", "plots/topology.svg"} <= drawn
    assert {name: after[name] for name in after.keys() - drawn} == before


def test_it_can_go_elsewhere(testbed: Call, results: Path, tmp_path: Path) -> None:
    before = files(results)
    code, out, _ = testbed("report", results, "--out", tmp_path / "a" / "b", "--format", "json")
    assert code == 0
    assert json.loads(out) == {
        "report": str(tmp_path / "a" / "b" / "report.html"), "plots": str(tmp_path / "a" / "b" / "plots")
    }  # fmt: skip
    assert testbed("report", results, "--out", tmp_path / "for-anna.html") == (0, f"{tmp_path / 'for-anna.html'}\n", "")
    assert (tmp_path / "for-anna.html").read_bytes() == before["report.html"]
    assert files(results) == before
    for file in (tmp_path / "a" / "b" / "plots").iterdir():
        ElementTree.parse(file)
    assert testbed("report", results)[0] == 0
    assert files(tmp_path / "a" / "b") == {
        name: content for name, content in files(results).items() if name == "report.html" or name.startswith("plots/")
    }


def test_a_flow_can_be_asked_for(testbed: Call, results: Path) -> None:
    assert testbed("report", results, "--flow", "h5-h99")[0] == 0
    assert next((one.flow, one.chosen) for one in build.build(results, ["h5-h99"]).timelines) == ("h5-h99", "asked for")
    assert (results / "plots" / "decisions-h5-h99.svg").is_file()
    code, _, said = testbed("report", results, "--flow", "h9")
    assert code == 2
    assert "--flow h9: no such flow in this run" in said
    assert "h5-h99" in said


def without_decisions(path: Path) -> None:
    (path / "decisions.parquet").unlink()


def cut(name: str) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        content = (path / name).read_bytes()
        (path / name).write_bytes(content[: len(content) // 2])

    return harm


def replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        text = (path / name).read_text()
        assert old in text
        (path / name).write_text(text.replace(old, new))

    return harm


@pytest.mark.parametrize(
    ("harm", "arguments", "says"),
    [
        (shutil.rmtree, [], "no results folder at"),
        (lambda path: (path / "manifest.json").unlink(), [], "is not a results folder"),
        (replaced("manifest.json", '"schema_version": 4', '"schema_version": 9'), [], "schema version 9"),
        (cut("flow_series.parquet"), [], "flow_series.parquet is cut short or damaged"),
        (cut("decisions.parquet"), [], "decisions.parquet is cut short or damaged"),
        (cut("summary.json"), [], "summary.json is cut short or damaged"),
        (replaced("manifest.json", '"2 ms"', '"soon"'), [], "do not fit together: ValueError: 'soon'"),
        (replaced("summary.json", '"s1-eth2"', '"s1-eth9"'), [], "do not fit together"),
        (without_decisions, ["--flow", "h5-h99"], "has no decisions.parquet"),
        (lambda _: None, ["--out", "/sys/x"], "the report cannot be written to /sys/x: "),
        (lambda _: None, ["--out", "/sys/x.html"], "the report cannot be written to /sys/x.html: "),
    ],
)
def test_one_message_for_what_is_wrong(
    testbed: Call, results: Path, harm: Callable[[Path], None], arguments: list[str], says: str
) -> None:
    harm(results)
    before = files(results)
    code, out, said = testbed("report", results, *arguments)
    assert (code, out) == (2, "")
    assert says in said
    assert said.count("\n") == 1
    assert files(results) == before


def test_without_a_record_of_decisions_the_report_says_so(testbed: Call, results: Path) -> None:
    without_decisions(results)
    assert testbed("report", results)[0] == 0
    assert "No decisions were kept" in (results / "report.html").read_text()
