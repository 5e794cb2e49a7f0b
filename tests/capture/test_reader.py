"""What the reader says of damage, of other files, and of pcap."""

from __future__ import annotations

import struct
from contextlib import nullcontext
from pathlib import Path

import pytest

from testbed.capture.reader import Frame, Reader
from testbed.errors import BadInput, TestbedError
from tests.capture.written import FRAMES, written


def test_wherever_a_capture_is_cut_its_whole_packets_are_read_and_the_cut_is_report(tmp_path: Path) -> None:
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


def test_damage_is_report(capture: Path) -> None:
    content = bytearray(capture.read_bytes())
    at = content.index(FRAMES[1]) - 24  # the length of the second packet's block
    content[at : at + 4] = b"\x01\x02\x03\xff"
    capture.write_bytes(content)
    with pytest.raises(TestbedError, match="is damaged after 1 packets"):
        list(Reader(capture))
