"""`testbed run --from FOLDER --verify`: equal, or where first not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from testbed.capture.pcapng import HEAD, PACKET
from tests.support.commands import command
from tests.support.folders import results

UNSEEN = ("--metrics-addr", "none")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "out"
    done = command(
        "run", "incast-4", "--engine", "virtual", "--duration", "100 us", "--controller", "swift", "--seed", "3",
        "--set", "controller.base_target=30.1 us", "--pcap", "nic:h1", "--snap", "300 B", "--out", str(folder),
        "--set", "record.report=false", *UNSEEN,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def verified(folder: Path, *options: str) -> tuple[int, str, str]:
    done = command("run", "--from", str(folder), "--verify", *UNSEEN, *options)
    return done.returncode, done.stdout, done.stderr


def test_a_run_repeats_to_the_bit(result: Path) -> None:
    code, said, _ = verified(result)
    assert (code, said) == (0, "equal: every table, every capture, and the summary but for wall time\n")


def test_options_that_change_the_run_are_refused(result: Path) -> None:
    code, _, said = verified(result, "--seed", "4", "--controller", "hpcc")
    assert code == 2
    assert "--verify repeats a run as it was: leave --controller, --seed out" in said


def test_what_cannot_be_repeated_is_refused_by_name(result: Path, tmp_path: Path) -> None:
    code, _, said = verified(results(tmp_path / "kernel", "dcqcn"))
    assert code == 2
    assert "is of --engine kernel; only the virtual engine leaves the same bits again" in said
    assert "name its folder with --from" in command("run", "incast-4", "--verify").stderr
    stopped = copy(result, tmp_path)
    manifest = json.loads((stopped / "manifest.json").read_text())
    reason = {"what": "the run ended early", "how_much": "Ctrl-C after 0.05 ms", "remedy": "run it again to its end"}
    manifest["verdict"]["reasons"] = [reason]
    (stopped / "manifest.json").write_text(json.dumps(manifest))
    code, _, said = verified(stopped)
    assert code == 2
    assert "was ended by Ctrl-C" in said


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


def in_files(folder: Path) -> str:
    (folder / "decisions.parquet").unlink()
    return "decisions.parquet: was not there and is there"


@pytest.mark.parametrize("change", [in_table, in_capture, in_summary, in_files], ids=lambda one: one.__name__)
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
