"""Headroom against the bound of 802.1Qbb: a link's round trip, and a frame in either direction."""

from __future__ import annotations

import pytest

from testbed.errors import BadInput
from testbed.pfc import headroom
from testbed.pfc.settings import Pfc
from testbed.rack.settings import Link

LINK = Link(rate="40 Gbit/s", delay="1 us")  # type: ignore[arg-type] # as a file has it
FRAME = 1500
NEEDED = 10_000 + 3_000  # 40 Gbit/s x 2 us, and two frames


def test_auto_is_what_is_needed() -> None:
    room = headroom.room(Pfc(), LINK, 5e6, FRAME, late=0.0)
    assert (room.xoff, room.xon, room.headroom) == (200_000, 180_000, NEEDED)
    assert room.limit == 200_000 + NEEDED
    late = headroom.room(Pfc(), LINK, 5e6, FRAME, late=1e-6)
    assert late.headroom == NEEDED + 2 * 5_000  # a sender and a pause frame, each as much as arrives in 1 us
    assert late.spare == pytest.approx(1e-6)


def test_more_than_needed_lets_pause_frames_be_later() -> None:
    room = headroom.room(Pfc(headroom="28 kB"), LINK, 5e6, FRAME, late=1e-6)
    assert room.spare == pytest.approx(2e-6)


@pytest.mark.parametrize(
    ("pfc", "buffer", "expected"),
    [
        (Pfc(headroom="22 kB"), 5e6, "rack.switch.pfc.headroom: 22 kB is too small; at least 23 kB are needed"),
        (Pfc(), 210e3, r"rack.switch.pfc.xoff: 200 kB and the headroom do not fit into rack.switch.buffer \(210 kB\)"),
    ],
)
def test_what_cannot_be_lossless_is_refused(pfc: Pfc, buffer: float, expected: str) -> None:
    with pytest.raises(BadInput, match=expected):
        headroom.room(pfc, LINK, buffer, FRAME, late=1e-6)
