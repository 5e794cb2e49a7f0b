"""`testbed run --pcap`: what a real run leaves in its captures, against its own counters and against tshark."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from testbed.capture.decode import packets
from testbed.capture.files import LEAST, Captures
from testbed.capture.output import About
from testbed.capture.point import Point
from testbed.capture.reader import Reader
from testbed.capture.recording import Recording
from testbed.capture.tap import Interface
from testbed.clock import Clock
from testbed.results.folder import read_table
from tests.support.commands import Command, command
from tests.support.runs import UNCALIBRATED, UNDRAWN

ECN = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"]

pytestmark = [pytest.mark.root, pytest.mark.parallel]


@dataclass(frozen=True)
class Run:
    """A finished run with its captures."""

    folder: Path
    summary: dict[str, Any]
    captures: list[dict[str, Any]]

    def packets(self, point: str) -> list[dict[str, Any]]:
        return _packets(self.file(point))

    def file(self, point: str) -> Path:
        return self.folder / f"{point.replace(':', '-')}.pcapng"


@cache
def _packets(file: Path) -> list[dict[str, Any]]:
    return list(packets(Reader(file)))


def run(folder: Path, *arguments: str) -> Run:
    done = command("run", *arguments, *UNCALIBRATED, *UNDRAWN, "--out", str(folder))
    assert done.returncode in (0, 3), done.stderr
    manifest = json.loads((folder / "manifest.json").read_text())
    return Run(folder, json.loads((folder / "summary.json").read_text()), manifest["captures"])


@pytest.fixture(scope="module")
def hpcc(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("hpcc") / "run"
    points = ("--pcap", "port:s1-eth3", "--pcap", "nic:h1")
    large = ("--set", "traffic.payload=4096 B")  # each packet of a capture takes a millisecond to read
    return run(folder, "incast-2", "--controller", "hpcc", "--duration", "200 us", *large, *points)


@pytest.fixture(scope="module")
def dcqcn(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("dcqcn") / "run"
    # marks everything, so that there are CNPs
    marking = ("--set", "tuner.kmin=1 B", "--set", "tuner.kmax=2 B")
    return run(folder, "incast-2", "--duration", "300 us", "--pcap", "port:s1-eth3", "--snap", "336 B", *marking)


def test_capture_has_every_packet_that_the_run_counted(hpcc: Run) -> None:
    """No queue of the model drops and no sender is left: what was sent has left the port, and was acknowledged."""
    assert hpcc.summary["drops_in_run"] == 0
    assert [one["dropped"] for one in hpcc.captures] == [0, 0]
    found = hpcc.packets("port:s1-eth3")
    kinds = Counter((packet["kind"], packet["direction"]) for packet in found)
    sent = hpcc.summary["packets_sent"]
    assert kinds["data", "out"] == kinds["ack", "in"] == sent
    assert len(found) == hpcc.captures[0]["packets"]
    # the port had enqueued so many at the last sample, when some were still on their way to it
    counted = read_table(hpcc.folder / "port_series.parquet").to_pylist()
    enqueued = max(row["tx_packets"] for row in counted if row["port"] == "s1-eth3")
    assert sent * 0.9 < enqueued <= sent
    host = Counter((packet["kind"], packet["direction"]) for packet in hpcc.packets("nic:h1"))
    first_flow = sum(packet["kind"] == "data" and packet["src"] == "10.0.0.1" for packet in found)
    assert host["data", "out"] == host["ack", "in"] == first_flow


def test_packet_numbers_of_every_flow_have_no_gap(hpcc: Run) -> None:
    numbers: dict[int, list[int]] = {}
    for packet in hpcc.packets("port:s1-eth3"):
        if packet["kind"] == "data":
            numbers.setdefault(packet["qp"], []).append(packet["psn"])
    assert len(numbers) == 2
    assert all(sorted(found) == list(range(len(found))) for found in numbers.values())


def test_times_and_int_are_nominal_and_agree(hpcc: Run) -> None:
    """A packet leaves its host, is stamped when it is enqueued, and leaves the port when its bytes have drained."""
    for packet in hpcc.packets("port:s1-eth3"):
        if packet["kind"] == "data":
            (hop,) = packet["int"]["hops"]
            assert hop["port"] == "s1-eth3"
            assert hop["rate"] == pytest.approx(100e9)
            assert 0 <= packet["departure"] <= hop["time"] <= packet["time"] + 1e-9
            assert packet["time"] < 3e-3  # in wall time it would be hundreds of ms
            assert packet["ecn"] == "ECT(0)"


def test_queue_in_int_is_what_the_port_had_taken_and_not_sent(hpcc: Run) -> None:
    hops = [
        packet["int"]["hops"][0] | {"size": packet["length"]}
        for packet in hpcc.packets("port:s1-eth3")
        if packet["kind"] == "data"
    ]
    hops.sort(key=lambda hop: (hop["time"], hop["tx_bytes"]))
    assert all(before["tx_bytes"] <= after["tx_bytes"] for before, after in pairwise(hops))
    taken = 0
    for hop in hops:
        assert hop["tx_bytes"] <= taken <= hop["tx_bytes"] + hop["queue"]
        taken += hop["size"]


def test_marks_and_cnps_are_there(dcqcn: Run) -> None:
    found = dcqcn.packets("port:s1-eth3")
    marked = sum(packet["kind"] == "data" and packet["ecn"] == "CE" for packet in found)
    echoed = sum(packet["kind"] == "ack" and packet["ce_echo"] for packet in found)
    cnps = [packet for packet in found if packet["kind"] == "cnp"]
    assert marked == echoed > 0
    assert cnps
    assert all(packet["becn"] and packet["direction"] == "in" for packet in cnps)
    counted = read_table(dcqcn.folder / "port_series.parquet").to_pylist()
    assert marked >= max(row["marked_packets"] for row in counted if row["port"] == "s1-eth3") > 0


def test_snap_keeps_the_headers_and_the_length(dcqcn: Run) -> None:
    frames = list(Reader(dcqcn.file("port:s1-eth3")))
    assert {len(frame.data) for frame in frames if frame.length > LEAST} == {LEAST}
    assert max(frame.length for frame in frames) == 1078  # 1000 B of payload


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed: apt install tshark")
@pytest.mark.parametrize(("name", "point"), [("hpcc", "port:s1-eth3"), ("dcqcn", "port:s1-eth3")])
def test_wireshark_reads_every_packet_as_we_do(name: str, point: str, request: pytest.FixtureRequest) -> None:
    made: Run = request.getfixturevalue(name)
    fields = ["bth.opcode", "bth.psn", "bth.destqp", "aeth.syndrome", "aeth.msn"]
    names = ["ip.dsfield.ecn", *(f"infiniband.{field}" for field in fields)]
    asked = ["tshark", "-r", str(made.file(point)), "-T", "fields", *(part for one in names for part in ("-e", one))]
    done = subprocess.run(asked, check=True, capture_output=True, text=True)
    theirs = [
        tuple(int(value, 0) if value else None for value in line.split("\t")) for line in done.stdout.splitlines()
    ]
    ours = [
        (ECN.index(one["ecn"]), one["opcode"], one["psn"], one["qp"], one.get("syndrome"), one.get("msn"))
        for one in made.packets(point)
    ]
    assert theirs == ours
    assert len(ours) > 100


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed: apt install tshark")
def test_wireshark_finds_nothing_malformed(hpcc: Run) -> None:
    done = subprocess.run(["tshark", "-r", str(hpcc.file("nic:h1"))], check=True, capture_output=True, text=True)
    assert done.stdout.count("RRoCE") == len(done.stdout.splitlines()) > 100
    assert "alformed" not in done.stdout


@pytest.mark.parametrize(
    ("option", "says"), [(("--pcap", "port:s1-eth4"), "port:s1-eth1 ... port:s1-eth3"), (("--snap", "9 B"), "336 B")]
)
def test_bad_options_stop_before_anything_is_built(tmp_path: Path, option: tuple[str, ...], says: str) -> None:
    done = command("run", "incast-2", "--out", str(tmp_path / "out"), *option)
    assert done.returncode == 2
    assert says in done.stderr
    assert "building" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def children(pids: list[int]) -> list[int]:
    return [int(child) for pid in pids for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def interrupted(folder: Path, seconds: float, do: Any) -> tuple[int, str]:
    """A run to whose capturing process (the youngest) something is done on the way."""
    options = ("--duration", "2 ms", "--pcap", "port:s1-eth3", "--snap", f"{LEAST} B", *UNCALIBRATED, *UNDRAWN)
    process = Command("run", "incast-2", *options, "--out", str(folder))
    process.read_until("running")
    time.sleep(seconds)
    do(process, max(children(children(children([process.pid])))))  # in a sandbox, which is two deep
    return process.wait(), process.communicate()[1]


def test_a_killed_run_leaves_no_file(tmp_path: Path) -> None:
    code, said = interrupted(tmp_path / "out", 0.3, lambda process, _capturing: process.kill())
    assert code == -signal.SIGKILL
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_capturing_process_that_is_held_up_loses_nothing(tmp_path: Path) -> None:
    """Half a second is more than the agents ever take: it waits in the ring, which has room for all of this run."""

    def hold(_process: object, capturing: int) -> None:
        os.kill(capturing, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(capturing, signal.SIGCONT)

    code, said = interrupted(tmp_path / "out", 0.3, hold)
    assert code in (0, 3), said
    (capture,) = json.loads((tmp_path / "out" / "manifest.json").read_text())["captures"]
    assert capture["dropped"] == 0
    assert sum(1 for _ in Reader(tmp_path / "out" / "port-s1-eth3.pcapng")) == capture["packets"]


def test_results_are_kept_when_the_capture_fails(tmp_path: Path) -> None:
    code, said = interrupted(tmp_path / "out", 0.3, lambda _process, capturing: os.kill(capturing, signal.SIGKILL))
    assert code in (0, 3), said
    assert "the capture of port:s1-eth3 failed: its process was killed" in said
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["packets_sent"] > 0


def test_a_capture_that_is_killed_before_the_run_begins_is_told_of_as_well(tmp_path: Path) -> None:
    """Between the two all agents get ready."""
    captures = Captures([Point("nic", "h1")], tmp_path / "out")
    with Path("/proc/self/ns/net").open() as here:
        recording = Recording(
            [(captures.all[0], Interface(here.fileno(), "lo", 1e9))], About("incast-2", "dcqcn", False)
        )
        (capturing,) = children([os.getpid()])[-1:]
        os.kill(capturing, signal.SIGKILL)
        os.waitid(os.P_PID, capturing, os.WEXITED | os.WNOWAIT)
        recording.begin(Clock(1000.0).started())
        (told,) = recording.end()
    assert "its process was killed" in told["problem"]
