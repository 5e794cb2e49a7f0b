"""`testbed.run`, `load`, `sweep` and `compare`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import testbed
from testbed.results.report import vector
from testbed.runs.same import first_difference
from tests.support.checkout import ROOT

SHORT = {"record.report": False, "time.warmup": "100 us"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> testbed.Run:
    out = tmp_path_factory.mktemp("python") / "run"
    return testbed.run("incast-4", controller="hpcc", engine="virtual", duration="500 us", settings=SHORT, out=out)


def test_a_run_has_its_figures_and_tables(run: testbed.Run) -> None:
    assert run.summary.controller == "hpcc"
    assert run.summary.verdict.word == "clean"
    assert (run.flows.num_rows, run.ports.num_rows) == (4, 5)
    assert run.series.flows["time"].to_pylist()[-1] == pytest.approx(500e-6)
    assert run.manifest.experiment["time"]["duration"] == "500 us"


def test_a_plot_of_the_report_becomes_a_file_for_a_paper(run: testbed.Run, tmp_path: Path) -> None:
    assert "queue" in run.figures
    figure = run.figure("queue")
    figure.savefig(tmp_path / "queue.pdf")
    assert (tmp_path / "queue.pdf").read_bytes().startswith(b"%PDF")
    assert tuple(figure.get_size_inches()) == vector.SIZE
    narrow = run.figure("queue", title="", size=(3.4, 2), labels={"y": "queue (kB)"})
    assert (tuple(narrow.get_size_inches()), narrow.axes[0].get_ylabel()) == ((3.4, 2), "queue (kB)")
    with pytest.raises(testbed.BadInput, match="size: expected width and height in inches"):
        run.figure("queue", size=(0, 2))
    with pytest.raises(testbed.BadInput, match="did you mean 'queue'"):
        run.figure("queu")


def test_a_notebook_shows_table_and_queue(run: testbed.Run) -> None:
    shown = run._repr_html_()
    assert "incast-4 · hpcc" in shown
    assert "verdict: clean" in shown
    assert "<polyline" in shown


def test_it_runs_again_to_the_bit_and_is_loaded(run: testbed.Run, tmp_path: Path) -> None:
    again = testbed.run(run.folder, out=tmp_path / "again")
    assert first_difference(run.folder, testbed.load(again.folder).folder) is None


def test_a_report_is_written_where_it_is_asked_for(run: testbed.Run, tmp_path: Path) -> None:
    assert run.report(tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_a_sweep_and_its_comparison(tmp_path: Path) -> None:
    settings = {**SHORT, "traffic.senders": [2, 3]}
    done = testbed.sweep(
        "incast-4",
        controller=["hpcc", "swift"],
        engine="fluid",
        duration="500 us",
        settings=settings,
        out=tmp_path / "s",
    )
    assert [one.summary.flows for one in done.runs] == [2, 3, 2, 3]
    assert [one.summary.controller for one in done.runs] == ["hpcc", "hpcc", "swift", "swift"]
    compared = testbed.compare(done, baseline="swift")
    assert compared.as_dict()["baseline"] == "swift"
    assert "SU, %" in compared._repr_html_()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"controller": "hpc"}, "did you mean 'hpcc'"),
        ({"controller": int}, "expected a subclass of ControllerBase"),
        ({"settings": {"traffic.senders": object()}}, "settings: traffic.senders: a object"),
        ({"duration": "10 apples"}, "time.duration"),
        ({"pcap": ["nic:h99"]}, "h99"),
    ],
)
def test_a_mistake_is_told_in_words(given: dict[str, object], said: str) -> None:
    with pytest.raises(testbed.BadInput, match=said):
        testbed.run("incast-4", **{"engine": "virtual", **given})  # type: ignore[arg-type]


def test_importing_is_quick() -> None:
    code = "import testbed, sys; print(*sorted(sys.modules.keys() & {'numpy', 'pydantic', 'numba', 'pyarrow', 'yaml'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_every_name_is_there() -> None:
    assert all(getattr(testbed, name) for name in testbed.__all__)
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        testbed.runn  # type: ignore[attr-defined] # noqa: B018


def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    """As a script, with fewer flows and less time."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/reference/python.md").read_text(), re.DOTALL)
    for long, short in (('"incast-64"', '"incast-2"'), ('"10 ms"', '"100 us"')):
        assert long in code
        code = code.replace(long, short)
    (tmp_path / "page.py").write_text(code)
    done = subprocess.run([sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert testbed.load(tmp_path / "folder").summary.controller == "MyCc"
    assert (tmp_path / "queue.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "folder" / "report.html").is_file()


def test_the_engine_counts_before_anything_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_text("rack: {hosts: 1025}\ntraffic: {pattern: incast, senders: 2}\ncontroller: fixed\n")
    short = {"time.warmup": 0, "record.report": False, "record.decisions": 0}
    with pytest.raises(testbed.BadInput, match="say --engine virtual"):
        testbed.run(file, duration="10 us", settings=short)
    found = testbed.run(file, engine="virtual", duration="10 us", settings=short, out=tmp_path / "out")
    assert found.summary.engine == "virtual"
