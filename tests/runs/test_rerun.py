"""`testbed rerun RESULT`: equal, or where first not; results that travel."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import testbed
from testbed.capture.pcapng import HEAD, PACKET
from testbed.results import packed
from testbed.results.folder import load_manifest
from tests.support.commands import command

UNSEEN = ("--metrics-addr", "none")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "out"
    done = command(
        "run", "incast-4", "--engine", "virtual", "--duration", "100 us", "--controller", "swift", "--seed", "3",
        "--set", "controller.base_target=30.1 us", "--pcap", "nic:h1", "--snap", "336 B", "--out", str(folder),
        "--set", "record.report=false", *UNSEEN,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def verified(folder: Path, *options: str) -> tuple[int, str, str]:
    done = command("rerun", str(folder), *UNSEEN, *options)
    return done.returncode, done.stdout, done.stderr


def test_a_run_repeats_to_the_bit(result: Path) -> None:
    code, said, _ = verified(result)
    assert (code, said) == (0, "equal: every table, every capture, and the summary but for wall time\n")


def test_a_live_run_repeats_its_decisions_and_samples(tmp_path: Path) -> None:
    live = ("--engine", "live", "--dilation", "100", "--duration", "100 us", "--set", "record.report=false")
    done = command("run", "incast-2", *live, "--out", str(tmp_path / "out"), *UNSEEN)
    assert done.returncode in {0, 3}, done.stderr
    assert verified(tmp_path / "out")[:2] == (0, "equal: every decision and every sample\n")


def test_a_changed_experiment_is_another_one(result: Path, tmp_path: Path) -> None:
    code, said, logged = verified(result, "--set", "seed=4", "--out", str(tmp_path / "out"), "--format", "json")
    assert (code, json.loads(said)["controller"]) == (0, "swift")
    assert "not compared: --set seed=4 makes it another experiment" in logged
    assert "differs: seed was 3 and is 4" in logged
    assert load_manifest(tmp_path / "out").seed == 4


def test_what_leaves_no_bits_to_compare_is_named_and_run(result: Path, tmp_path: Path) -> None:
    short = ("--duration", "50 us", "--set", "time.warmup=0", "--set", "record.report=false")
    done = command("run", "incast-2", "--engine", "fluid", *short, "--out", str(tmp_path / "fluid"), *UNSEEN)
    assert done.returncode == 0, done.stderr
    code, _, said = verified(tmp_path / "fluid", "--out", str(tmp_path / "again"))
    assert code == 0
    assert (
        "not compared: it is of --engine fluid; only the virtual and the live engine leave the same bits again" in said
    )
    assert load_manifest(tmp_path / "again").engine == "fluid"
    stopped = copy(result, tmp_path)
    manifest = json.loads((stopped / "manifest.json").read_text())
    reason = {"what": "the run ended early", "how_much": "Ctrl-C after 0.05 ms", "remedy": "run it again to its end"}
    manifest["verdict"]["reasons"] = [reason]
    (stopped / "manifest.json").write_text(json.dumps(manifest))
    code, _, said = verified(stopped, "--out", str(tmp_path / "whole"))
    assert code == 0
    assert "not compared: it was ended by Ctrl-C" in said


def copy(result: Path, folder: Path) -> Path:
    return Path(shutil.copytree(result, folder / "copy"))


def in_table(folder: Path) -> str:
    file = folder / "port_series.parquet"
    table = parquet.read_table(file)
    number = table.column_names.index("queue")
    queue = table["queue"].to_pylist()
    was, queue[7] = queue[7], 12345.5
    parquet.write_table(table.set_column(number, table.schema.field(number), pa.array(queue)), file)
    time, port = table["time"][7].as_py(), table["port"][7].as_py()
    return f"port_series.parquet, row 7 (time {time}, port {port}), queue: was 12345.5 and is {was}"


def in_capture(folder: Path) -> str:
    """The time of the first packet, less by a picosecond."""
    file = folder / "nic-h1.pcapng"
    content = bytearray(file.read_bytes())
    at = next(at for at in range(0, len(content), 4) if _is_packet(content, at))
    kind, size, interface, high, low, *rest = HEAD.unpack_from(content, at)
    HEAD.pack_into(content, at, kind, size, interface, high, low - 1, *rest)
    file.write_bytes(content)
    return f"nic-h1.pcapng, row 0, time: was {(low - 1) / 1e12} and is {low / 1e12}"


def _is_packet(content: bytearray, at: int) -> bool:
    kind, size = HEAD.unpack_from(content, at)[:2]
    return bool(kind == PACKET and size < 400 and content[at + size - 4 : at + size] == size.to_bytes(4, "little"))


def in_summary(folder: Path) -> str:
    file = folder / "summary.json"
    summary = json.loads(file.read_text())
    was, summary["counters"]["ring_overflow"] = summary["counters"]["ring_overflow"], 5
    summary["wall_seconds"] = 99.0  # is of no account
    file.write_text(json.dumps(summary))
    return f"summary.json, counters.ring_overflow: was 5 and is {was}"


def in_digest(folder: Path) -> str:
    """Of a table that was removed to save room."""
    manifest = json.loads((folder / "manifest.json").read_text())
    was, manifest["sha256"]["decisions.parquet"] = manifest["sha256"]["decisions.parquet"], "0" * 64
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "decisions.parquet").unlink()
    return f"decisions.parquet: was SHA-256 {'0' * 64} and is SHA-256 {was}"


def in_files(folder: Path) -> str:
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["sha256"]["decisions.parquet"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "decisions.parquet").unlink()
    return "decisions.parquet: was not there and is there"


@pytest.mark.parametrize(
    "change", [in_table, in_capture, in_summary, in_digest, in_files], ids=lambda one: one.__name__
)
def test_the_first_difference_is_named(result: Path, tmp_path: Path, change: Callable[[Path], str]) -> None:
    folder = copy(result, tmp_path)
    where = change(folder)
    assert verified(folder)[:2] == (1, f"differs: {where}\n")


def test_as_json(result: Path, tmp_path: Path) -> None:
    folder = copy(result, tmp_path)
    in_files(folder)
    code, said, _ = verified(folder, "--format", "json")
    told: dict[str, Any] = json.loads(said)
    assert (code, told["equal"], told["difference"]["file"]) == (1, False, "decisions.parquet")


MINE = """
from testbed.controller import Ack, CompiledController, Signal


class Mine(CompiledController):
    signals = Signal.RTT

    def on_ack(self, ack: Ack) -> None:
        self.rate = 3e6 + 1e9 * ack.rtt
"""
SIZES = """
source: made up
unit: 1 B
points: [[1000, 0.0], [20000, 0.5], [50000, 1.0]]
"""


@pytest.fixture(scope="module")
def travelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report elsewhere, of an experiment that named files; they and the results have gone."""
    home = tmp_path_factory.mktemp("home")
    (home / "mine.py").write_text(MINE)
    (home / "sizes.yaml").write_text(SIZES)
    poisson = ("--set", "traffic={pattern: poisson, sizes: ./sizes.yaml, load: 60 %}", "--set", "rack.hosts=4")
    done = command(
        "run", "websearch", "--engine", "virtual", "--duration", "200 us", "--controller", "./mine.py", *poisson,
        "--out", "out", *UNSEEN, cwd=home,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = tmp_path_factory.mktemp("elsewhere") / "report.html"
    (home / "out" / "report.html").rename(report)
    shutil.rmtree(home)
    return report


def test_a_report_alone_repeats_the_run_with_the_files_that_it_named(travelled: Path) -> None:
    code, said, logged = verified(travelled, "--trust")
    assert (code, said) == (0, "equal: every table, every capture, and the summary but for wall time\n")
    assert "differs: nothing" in logged


def test_a_report_of_64_flows_goes_by_mail_with_their_series(tmp_path: Path) -> None:
    """And repeats the run from wherever it is: incast-64, DCQCN, 30 ms."""
    options = ("--engine", "virtual", "--controller", "dcqcn", "--duration", "30 ms", "--set", "record.decisions=0")
    assert command("run", "incast-64", *options, "--out", str(tmp_path / "out"), *UNSEEN).returncode == 0
    report = (tmp_path / "out" / "report.html").rename(tmp_path / "report.html")
    shutil.rmtree(tmp_path / "out")
    assert report.stat().st_size <= 3_000_000
    there = packed.at(report)
    assert len({*parquet.read_table(there / "flow_series.parquet")["flow"].to_pylist()}) == 64
    assert verified(report)[:2] == (0, "equal: every table, every capture, and the summary but for wall time\n")


def test_the_results_of_a_report_are_loaded(travelled: Path, result: Path) -> None:
    run = testbed.load(travelled)
    assert run.flows.num_rows > 0
    assert run.summary.controller == "Mine"
    assert np.isfinite(run.series.ports["queue"].to_numpy()).all()
    with pytest.raises(testbed.BadInput, match="carries no results"):
        testbed.load(result / "manifest.json")


def test_a_damaged_report_is_refused(travelled: Path, tmp_path: Path) -> None:
    text = travelled.read_text()
    at = text.index('id="results">') + 500
    for name, damaged in (("cut", text[: at + 100] + "</script>"), ("changed", f"{text[:at]}AAAA{text[at + 4 :]}")):
        (tmp_path / f"{name}.html").write_text(damaged)
        with pytest.raises(testbed.BadInput, match=f"{name}.html is cut short or damaged"):
            testbed.load(tmp_path / f"{name}.html")


def test_tables_without_room_are_known_by_their_hash(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And everything else is in the page, whose size has a bound."""
    empty = "<html><body></body></html>"
    most = len(packed.into(empty, result)) - 1000
    monkeypatch.setattr(packed, "MOST", most)
    page = packed.into(empty, result)
    assert len(page) <= most
    report = result.with_name("small.html")
    report.write_text(page)
    there = {file.name for file in packed.at(report).glob("*.parquet")}
    left_out = {file.name for file in result.glob("*.parquet")} - there
    assert there
    assert left_out > {"decisions.parquet"}
    assert verified(report)[:2] == (0, "equal: every table, every capture, and the summary but for wall time\n")


def test_a_changed_file_is_named_and_the_results_own_is_used(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    short = ("--duration", "50 us", "--set", "time.warmup=0", "--set", "record.report=false")
    options = ("--engine", "virtual", "--controller", "./mine.py", *short, *UNSEEN)
    assert command("run", "incast-2", *options, "--out", "out", cwd=tmp_path).returncode == 0
    (tmp_path / "mine.py").write_text(MINE.replace("3e6", "4e6"))
    code, said, logged = verified(tmp_path / "out", "--trust")
    assert (code, said.partition(":")[0]) == (0, "equal")
    assert f"differs: {tmp_path / 'mine.py'} has changed; not used here" in logged
    copied = tmp_path / "out" / "files" / "mine.py"
    copied.write_text(copied.read_text().replace("3e6", "4e6"))
    code, said, logged = verified(tmp_path / "out", "--trust")
    assert (code, said.partition(":")[0]) == (1, "differs")
    assert "differs: code of Mine (" in logged
    copied.unlink()
    (tmp_path / "mine.py").unlink()
    code, _, logged = verified(tmp_path / "out")
    assert code == 2
    assert f"plugin file '{tmp_path / 'mine.py'}' does not exist" in logged


def test_where_a_plugin_is_leaves_no_trace_in_the_bits(tmp_path: Path) -> None:
    """Nor in decisions.parquet."""
    found = []
    for name in ("one", "another"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(MINE)
        short = ("--duration", "50 us", "--set", "time.warmup=0", "--set", "record.report=false")
        options = ("--engine", "virtual", "--controller", "./mine.py", *short, *UNSEEN)
        assert command("run", "incast-2", *options, "--out", "out", cwd=tmp_path / name).returncode == 0
        found.append((tmp_path / name / "out" / "decisions.parquet").read_bytes())
    assert found[0] == found[1]
