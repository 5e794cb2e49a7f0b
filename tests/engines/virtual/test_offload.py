"""Which packets of TCP a host's kernel gets as one: those that Linux's receive offload would join (tcp_gro_receive)."""

from __future__ import annotations

import ctypes

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether

from testbed.engines.virtual.build import WORLD
from testbed.engines.virtual.structs import library

MSS, HEAD = 1448, 66


def segment(number: int, size: int = MSS, *, tos: int = 2, flags: str = "A", port: int = 9, stamp: int = 1) -> bytes:
    options = [("NOP", None), ("NOP", None), ("Timestamp", (stamp, 2))]
    at = (2**32 - 100 + number * MSS) % 2**32
    tcp = TCP(sport=port, dport=80, seq=at, ack=7, flags=flags, window=50, options=options)
    return bytes(Ether() / IP(src="10.0.0.1", dst="10.0.0.2", tos=tos, id=number) / tcp / bytes(size))


def head_of(frame: bytes) -> int:
    return int(library(WORLD).head_of_data(frame, ctypes.c_int64(len(frame))))


def joins(*frames: bytes) -> bool:
    """Whether the last one goes on where those before it end."""
    first, last, frame = frames[0], frames[-2], frames[-1]
    return bool(library(WORLD).continues(first, last, frame, ctypes.c_int64(head_of(frame))))


def test_what_goes_on_is_joined() -> None:
    """Across the end of the sequence numbers, too; the last one may be shorter, and ask to be given to its reader."""
    assert joins(segment(0), segment(1))
    assert joins(segment(0), segment(1), segment(2))
    assert joins(segment(0), segment(1), segment(2, 100, flags="PA"))


@pytest.mark.parametrize(
    ("why", "frames"),
    {
        "a gap": (segment(0), segment(2)),
        "the same again": (segment(0), segment(0)),
        "marked": (segment(0), segment(1, tos=3)),
        "another connection": (segment(0), segment(1, port=10)),
        "another time": (segment(0), segment(1, stamp=3)),
        "behind one that asks to be read": (segment(0, flags="PA"), segment(1)),
        "longer": (segment(0, 1447), segment(1)),
    }.items(),
)
def test_what_differs_for_tcp_or_ecn_is_not(why: str, frames: tuple[bytes, ...]) -> None:
    assert not joins(*frames), why


def test_what_is_no_data_of_tcp_is_left_alone() -> None:
    assert head_of(segment(0)) == HEAD
    assert head_of(segment(0, 0)) == 0
    assert [head_of(segment(0, flags=flags)) for flags in ("S", "FA", "CA", "EA", "UA")] == [0] * 5
    assert head_of(bytes(Ether() / IP() / UDP() / bytes(100))) == 0
    assert head_of(bytes(Ether() / IP(flags="MF") / TCP() / bytes(100))) == 0
    assert head_of(segment(0)[:-1]) == 0
