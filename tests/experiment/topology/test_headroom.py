"""Headroom against the bound of 802.1Qbb: a link's round trip, and a frame in either direction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from testbed.errors import BadInput
from testbed.experiment.topology import headroom
from testbed.experiment.topology.pfc import Pfc

LINK = headroom.IngressLink("link", rate=40e9, delay=1e-6, late=0.0)
LATE = replace(LINK, late=1e-6)
FRAME = 1500
NEEDED = 10_000 + 3_000  # 40 Gbit/s x 2 us, and two frames


def test_auto_is_what_is_needed() -> None:
    room = headroom.ingress_buffer(Pfc(), [LINK], 5e6, FRAME, late=0.0)
    assert (room.xoff, room.xon, room.headroom.size) == (200_000, 180_000, NEEDED)
    assert room.limit == 200_000 + NEEDED
    late = headroom.ingress_buffer(Pfc(), [LATE], 5e6, FRAME, late=1e-6)
    assert late.headroom.size == NEEDED + 2 * 5_000  # a sender and a pause frame, each as much as arrives in 1 us
    assert late.headroom.spare == pytest.approx(1e-6)


def test_more_than_needed_lets_pause_frames_be_later() -> None:
    room = headroom.ingress_buffer(Pfc(headroom="28 kB"), [LATE], 5e6, FRAME, late=1e-6)
    assert room.headroom.spare == pytest.approx(2e-6)


@pytest.mark.parametrize(
    ("pfc", "buffer", "expected"),
    [
        (Pfc(headroom="22 kB"), 5e6, "rack.switch.pfc.headroom: 22 kB is too small; at least 23 kB are needed"),
        (Pfc(), 210e3, r"rack.switch.pfc.xoff: 200 kB and the headroom do not fit into rack.switch.buffer \(210 kB\)"),
    ],
)
def test_what_cannot_be_lossless_is_refused(pfc: Pfc, buffer: float, expected: str) -> None:
    with pytest.raises(BadInput, match=expected):
        headroom.ingress_buffer(pfc, [LATE], buffer, FRAME, late=1e-6)


def test_all_ports_have_room_for_the_link_that_needs_most() -> None:
    uplink = headroom.IngressLink("uplink", rate=100e9, delay=2e-6, late=3e-6, begun=4_000)
    needed = 50_000 + 3_000 + 4_000 + 37_500 + 12_500  # link, frames, shaper; 3 us of the port, 1 us of the frame
    room = headroom.ingress_buffer(Pfc(), [LATE, uplink], 5e6, FRAME, late=1e-6)
    assert room.headroom.size == needed
    assert room.headroom.spare == pytest.approx(1e-6)
    assert room.headroom.gate_spare == pytest.approx(3e-6)
    with pytest.raises(
        BadInput,
        match="at least 107 kB are needed: 53 kB for the uplink's 2 us both ways and 2 frames, 4 kB for the port",
    ):
        headroom.ingress_buffer(Pfc(headroom="100 kB"), [LATE, uplink], 5e6, FRAME, late=1e-6)


def test_the_packet_that_makes_a_group_pause_is_the_first_in_its_headroom() -> None:
    key = "rack.switch.groups.3.headroom"
    room = headroom.headroom_of("auto", key, [LATE], FRAME, late=1e-6, taken=FRAME)
    assert room.size == NEEDED + 2 * 5_000 + FRAME
    assert room.spare == pytest.approx(1e-6)
    with pytest.raises(BadInput, match=f"{key}: 24 kB is too small; at least 24.5 kB are needed"):
        headroom.headroom_of(24e3, key, [LATE], FRAME, late=1e-6, taken=FRAME)
