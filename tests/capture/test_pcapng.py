"""What the writer writes, the reader, tshark and scapy read."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from testbed.capture.reader import Reader
from tests.capture.written import FRAMES, LENGTHS, TIMES


def test_reader_gives_back_what_was_written(capture: Path) -> None:
    reader = Reader(capture)
    frames = list(reader)
    assert [frame.data for frame in frames] == FRAMES
    assert [frame.length for frame in frames] == LENGTHS
    assert [frame.time for frame in frames] == pytest.approx([1e-9, 5.000000001, 5.000000001], rel=1e-12)
    assert [(frame.point, frame.direction) for frame in frames] == [
        ("port:s1-eth65", direction) for direction in ("out", "in", "out")
    ]
    assert (reader.comments, reader.dropped, reader.count) == (["one", "two"], 2, 3)


def test_scapy_reads_the_same(capture: Path) -> None:
    from scapy.utils import RawPcapNgReader

    with RawPcapNgReader(str(capture)) as reader:
        found = list(reader)
    assert [data for data, _ in found] == FRAMES
    for (_, about), time_ns, length in zip(found, TIMES, LENGTHS, strict=True):
        assert (about.tshigh << 32 | about.tslow, about.tsresol, about.wirelen) == (time_ns, 10**9, length)
        assert about.ifname == b"port:s1-eth65"


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed: apt install tshark")
def test_wireshark_reads_the_same(capture: Path) -> None:
    fields = ["frame.time_epoch", "frame.len", "frame.cap_len", "frame.interface_name", "frame.packet_flags_direction"]
    command = ["tshark", "-r", str(capture), "-T", "fields", *(part for field in fields for part in ("-e", field))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [round(float(row[0].partition(".")[0]) * 10**9 + int(row[0].partition(".")[2])) for row in rows] == TIMES
    assert [(int(row[1]), int(row[2])) for row in rows] == list(zip(LENGTHS, map(len, FRAMES), strict=True))
    assert {row[3] for row in rows} == {"port:s1-eth65"}
    assert [int(row[4], 16) for row in rows] == [2, 1, 2]
