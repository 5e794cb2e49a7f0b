"""`testbed decode` from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from testbed.capture.pcapng import Writer
from testbed.dataplane import wire
from testbed.experiment.topology import framing
from tests.support.commands import command
from tests.support.packets import CE, FRAMING, PLAIN, data

TESTBED = [sys.executable, "-c", "from testbed.cli.main import main; raise SystemExit(main())"]
DILATION, EPOCH_NS = 500.0, 1_000_000
RATE_KBPS = 200_000


@cache  # a capture does not change
def decode(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return command("decode", str(path), *options)


def objects(path: Path, *options: str) -> list[dict[str, Any]]:
    done = decode(path, "--format", "json", *options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def stamped() -> bytes:
    """A data packet with departure, and one of two hops filled in, byte by byte as wire.h says."""
    frame = bytearray(data(flow=2, framing=FRAMING, psn=8, tos=CE))
    shim = framing.ETHERNET_IP_UDP + wire.BTH.size
    frame[shim : shim + 8] = (EPOCH_NS + 50_000).to_bytes(8, "big")
    header = shim + wire.SHIM.size
    frame[header + 7] = 1  # remaining hops
    hop = wire.INT_HOP.pack(1 << 16 | 65, 12_345, EPOCH_NS + 100_000, 678_900, RATE_KBPS)
    frame[header + 16 : header + 16 + len(hop)] = hop
    return bytes(frame)


def of_kind(opcode: int) -> bytes:
    frame = bytearray(data(flow=3, framing=PLAIN, psn=9, payload=0))
    frame[framing.ETHERNET_IP_UDP] = opcode
    return bytes(frame)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("capture") / "some.pcapng"
    frames = [stamped(), of_kind(wire.ACK), of_kind(wire.CNP), data(flow=1), bytes(60), b"short"]
    with path.open("wb") as file:
        writer = Writer(file)
        writer.section("test", [f"dilation={DILATION!r} epoch_ns={EPOCH_NS}"])
        writer.interface("nic:h1", "", 100e9, 65_535)
        writer.packets(range(1000, 7000, 1000), frames, [len(frame) for frame in frames], [True, False] * 3)
        writer.statistics(7000, received=9, dropped=3)
    return path


def test_every_field_of_a_data_packet(capture: Path) -> None:
    first = objects(capture)[0]
    assert first["time"] == pytest.approx(1e-6)
    assert (first["point"], first["direction"], first["kind"]) == ("nic:h1", "out", "data")
    assert (first["src"], first["dst"]) == ("10.0.0.1", "10.0.0.2")
    assert (first["opcode"], first["name"]) == (5, "RC SEND Only with Immediate")
    assert (first["qp"], first["psn"], first["ecn"]) == (wire.QP_BASE + 2, 8, "CE")
    assert (first["length"], first["payload"]) == (len(stamped()), 1000)
    assert first["departure"] == pytest.approx(50e-6 / DILATION)  # nominal, as all times
    assert first["int"]["remaining"] == 1
    (hop,) = first["int"]["hops"]
    assert (hop["port"], hop["queue"], hop["tx_bytes"]) == ("s1-eth65", 12_345, 678_900)
    assert hop["time"] == pytest.approx(100e-6 / DILATION)
    assert hop["rate"] == pytest.approx(RATE_KBPS * 1e3 * DILATION)


def test_text_has_the_same_in_one_line_per_packet(capture: Path) -> None:
    lines = decode(capture).stdout.splitlines()
    assert len(lines) == 6
    assert lines[0].startswith(
        "0.000001000 nic:h1 out 10.0.0.1 > 10.0.0.2 RC SEND Only with Immediate psn 8 qp 0x102 CE"
    )
    assert "[s1-eth65 queue 12345 B, sent 678900 B, at 0.000000200, 100 Gbit/s]" in lines[0]
    assert "RC Acknowledge psn 9" in lines[1]
    assert "syndrome 0 msn 0" in lines[1]
    assert " CNP psn 9 " in lines[2]
    assert " psn - " in lines[3]  # its NIC has not numbered it


def test_missing_packets_are_report(capture: Path) -> None:
    done = decode(capture)
    assert done.returncode == 0
    assert done.stderr == "the capture misses 3 packets\n"


@pytest.mark.parametrize(("kind", "count"), [("data", 2), ("ack", 1), ("cnp", 1)])
def test_only(capture: Path, kind: str, count: int) -> None:
    assert [packet["kind"] for packet in objects(capture, "--only", kind)] == [kind] * count


def test_limit_counts_what_is_shown(capture: Path) -> None:
    (packet,) = objects(capture, "--only", "data", "--limit", "1")
    assert packet["psn"] == 8


def test_what_is_not_rocev2_is_shown_as_such(capture: Path) -> None:
    assert [packet["kind"] for packet in objects(capture)][4:] == ["other", "other"]


def test_reader_that_leaves_early_hears_nothing(capture: Path) -> None:
    process = subprocess.Popen(
        [*TESTBED, "decode", str(capture)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr as stderr:
        assert stderr.read() in ("", "the capture misses 3 packets\n")
    assert process.wait() == 0


def test_capture_that_was_cut_short_is_printed_until_there(capture: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.pcapng"
    path.write_bytes(capture.read_bytes()[:-200])
    done = decode(path)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == int(done.stderr.partition("cut short after ")[2].split()[0]) > 0


@pytest.mark.parametrize(
    ("content", "says"), [(None, "No such file"), (b"", "is empty"), (b"hello", "is not a capture")]
)
def test_bad_input_is_one_message(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "file.pcapng"
    if content is not None:
        path.write_bytes(content)
    done = decode(path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_output_that_cannot_be_written_is_one_message(capture: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*TESTBED, "decode", str(capture)], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "testbed: the output cannot be written: No space left on device\n"
