"""What the writer writes, the reader, tshark and scapy read; and what the reader says of damage."""

from __future__ import annotations

import io
import shutil
import struct
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from testbed.capture.pcapng import Writer
from testbed.capture.reader import Frame, Reader
from testbed.errors import BadInput, TestbedError
from tests.support.packets import FRAMING, PLAIN, data

FRAMES = [data(flow=1, framing=PLAIN, psn=7), data(flow=2, framing=FRAMING, psn=8)[:257], data(payload=3)]
TIMES = [1, 5_000_000_001, 5_000_000_001]
LENGTHS = [len(FRAMES[0]), 1150, len(FRAMES[2])]
OUTGOING = [True, False, True]
ABOUT = ("port:s1-eth65", "about it", 100e9, 256)


def written() -> bytes:
    file = io.BytesIO()
    writer = Writer(file)
    writer.section("testbed x", ["one", "two"])
    writer.interface(*ABOUT)
    writer.packets(TIMES, FRAMES, LENGTHS, OUTGOING)
    writer.statistics(6_000_000_000, received=5, dropped=2)
    return file.getvalue()


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "some.pcapng"
    path.write_bytes(written())
    return path


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


def test_wherever_a_capture_is_cut_its_whole_packets_are_read_and_the_cut_is_told(tmp_path: Path) -> None:
    content = written()
    ends, at = [], 0  # of the blocks
    while at < len(content):
        at += struct.unpack_from("=I", content, at + 4)[0]
        ends.append(at)
    path = tmp_path / "cut.pcapng"
    for size in range(1, len(content)):
        path.write_bytes(content[:size])
        frames: list[Frame] = []
        with (
            nullcontext()
            if size in ends
            else pytest.raises(TestbedError, match="cut short" if size >= 4 else "not a capture")
        ):
            for frame in Reader(path):
                frames.append(frame)  # extend() would lose those before the error
        assert len(frames) == sum(end <= size for end in ends[2:-1]), size


@pytest.mark.parametrize(("order", "magic", "units"), [("<", 0xA1B2C3D4, 10**6), (">", 0xA1B23C4D, 10**9)])
def test_pcap_is_read_too(tmp_path: Path, order: str, magic: int, units: int) -> None:
    path = tmp_path / "some.pcap"
    head = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
    records = [struct.pack(order + "IIII", 3, units // 4, len(frame), 1200) + frame for frame in FRAMES]
    path.write_bytes(head + b"".join(records))
    frames = list(Reader(path))
    assert [frame.data for frame in frames] == FRAMES
    assert {(frame.time, frame.length, frame.point, frame.direction) for frame in frames} == {(3.25, 1200, "", "")}
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(TestbedError, match="cut short after 2 packets"):
        list(Reader(path))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"{}", "is not a capture"),
        (b"some text that is longer", "is not a capture"),
        (struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101), "link type 101 is not Ethernet"),
    ],
)
def test_what_is_no_capture_of_ours_to_read_is_bad_input(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=says):
        list(Reader(path))


def test_damage_is_told(capture: Path) -> None:
    content = bytearray(capture.read_bytes())
    at = content.index(FRAMES[1]) - 24  # the length of the second packet's block
    content[at : at + 4] = b"\x01\x02\x03\xff"
    capture.write_bytes(content)
    with pytest.raises(TestbedError, match="is damaged after 1 packets"):
        list(Reader(capture))
