"""The egress queue of a switch port against theory, packet by packet: its length, what INT tells of it, its link.

Most tests stop the clock of the virtual queue (`Bench.freeze`), so that its length is known to the byte.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from testbed.dataplane import wire
from testbed.dataplane.port_maps import Port
from tests.support.packets import (
    FRAMING,
    H1,
    INT_AT,
    LOOPBACK,
    OK,
    PEER,
    PLAIN,
    SHOT,
    UNSPEC,
    Bench,
    bench,
    data,
    frame_of,
)

pytestmark = [pytest.mark.root, pytest.mark.parallel]
FULL = PLAIN.wire_size


# -- buffer ---------------------------------------------------------------------------------------------------------


def test_tail_drop_is_exactly_at_the_buffer(rig: Bench) -> None:
    rig.port(buffer=10_000)
    rig.freeze(0)
    full = 10_000 // FULL
    assert [rig.egress(data())[0] for _ in range(full)] == [OK] * full
    rest = 10_000 - full * FULL
    assert rig.egress(frame_of(rest + 1))[0] == SHOT
    assert rig.egress(frame_of(rest))[0] == OK
    assert rig.count["queue"] == rig.count["peak"] == 10_000
    assert rig.egress(frame_of(PLAIN.overhead))[0] == SHOT
    assert (rig.count["packets"], rig.count["bytes"]) == (full + 1, 10_000)
    assert (rig.count["dropped_packets"], rig.count["dropped_bytes"]) == (2, rest + 1 + PLAIN.overhead)


def test_every_frame_takes_its_place_in_the_queue(rig: Bench) -> None:
    """Also those that are not RoCE, such as ping: they use the link like the others."""
    rig.freeze(0)
    rig.egress(b"\xff" * 6 + H1 + b"\x08\x06" + bytes(46))
    assert rig.count["queue"] == 60


def test_a_port_that_is_off_lets_everything_pass() -> None:
    with bench() as switched_off:
        assert switched_off.egress(data()) == (OK, data())
        assert switched_off.count["packets"] == 0


def test_the_queue_drains_at_the_rate(rig: Bench) -> None:
    """q - rate x dt, with dt read back from the program, at rates from 1 Mbit/s to 100 Gbit/s."""
    for rate in (1e6, 100e6, 10e9, 100e9):
        rig.port(rate=rate, buffer=1 << 30)
        seconds = 0.004
        size = round(2 * rate / 8 * seconds) + 100_000
        began = time.monotonic_ns() - round(seconds * 1e9)
        rig.set_queue(size, began)
        rig.egress(data())
        drained = (int(rig.count["last_ns"]) - began) / 1e9 * rate / 8
        left = max(0.0, size - drained) + FULL
        assert rig.count["queue"] == pytest.approx(left, rel=1e-4, abs=2), rate


def test_a_long_pause_does_not_empty_a_long_queue(rig: Bench) -> None:
    """2 s at 1 Mbit/s send 250 kB, whatever waits."""
    rig.port(rate=1e6, buffer=1 << 30)
    began = time.monotonic_ns() - 2_000_000_000
    rig.set_queue(1_000_000, began)
    rig.egress(data())
    drained = (int(rig.count["last_ns"]) - began) / 1e9 * 125_000
    assert rig.count["queue"] == pytest.approx(1_000_000 - drained + FULL, rel=1e-4)


@pytest.mark.parametrize(("rate", "size", "pause"), [(100e6, 50_000, 1e-3), (100e6, 50_000, 0.5), (1e6, 900_000, 3.0)])
def test_area_is_the_integral_of_the_queue(rig: Bench, rate: float, size: int, pause: float) -> None:
    """A trapezoid while the queue lasts, a triangle when it empties on the way."""
    rig.port(rate=rate, buffer=1 << 30)
    began = time.monotonic_ns() - round(pause * 1e9)
    rig.set_queue(size, began)
    before = int(rig.count["area"])
    rig.egress(data())
    passed = (int(rig.count["last_ns"]) - began) / 1e9
    busy = min(passed, size / (rate / 8))
    expected = (size - busy * rate / 16) * busy
    assert (int(rig.count["area"]) - before) / 1e9 == pytest.approx(expected, rel=1e-3)


def test_area_over_many_arrivals(rig: Bench) -> None:
    """Packets at times of their own, replayed in floating point from the times that the program saw."""
    rig.port(rate=200e6, buffer=1 << 30)
    rate, queue, area, last = 200e6 / 8e9, 0.0, 0.0, 0
    for i in range(300):
        if i % 20 == 0:
            time.sleep(0.0005)
        rig.egress(data())
        now = int(rig.count["last_ns"])
        busy = min(now - last, queue / rate)
        area += (queue - busy * rate / 2) * busy
        queue += FULL - busy * rate
        last = now
    assert float(rig.count["area"]) == pytest.approx(area, rel=2e-3)
    assert rig.count["queue"] == pytest.approx(queue, rel=1e-3, abs=2)


def test_time_never_runs_backwards(rig: Bench) -> None:
    """Another core may have been here with a later time."""
    later = time.monotonic_ns() + 10_000_000_000
    rig.set_queue(5000, later)
    rig.egress(data())
    assert (rig.count["queue"], rig.count["last_ns"], rig.count["area"]) == (5000 + FULL, later, 0)


# -- INT ------------------------------------------------------------------------------------------------------------


def hops_of(frame: bytes) -> tuple[int, list[tuple[int, ...]]]:
    """Remaining hops, and all records."""
    start = INT_AT + wire.INT_HEADER.size
    version = wire.INT_HEADER.unpack_from(frame, INT_AT)[3]
    return version & 0xFF, [
        wire.INT_HOP.unpack_from(frame, start + i * wire.INT_HOP.size) for i in range(FRAMING.int_hops)
    ]


def test_int_records_what_the_packet_found(rig: Bench) -> None:
    rig.port(rate=100e6)
    size = FRAMING.wire_size
    rig.freeze(0)
    for _ in range(5):
        rig.egress(data(framing=FRAMING))
    rig.set_queue(3000, rig.state()[2])  # 5 x size bytes came, 3000 of them are still here
    frame = data(framing=FRAMING)
    _, out = rig.egress(frame)
    left, (first, second) = hops_of(out)
    node, queue, stamp, tx_bytes, rate = first
    assert node == 1 << 16 | 7
    assert queue == 3000
    assert stamp == rig.count["last_ns"]
    assert tx_bytes == 5 * size - 3000  # dequeued, not enqueued
    assert rate == 100_000  # kbit/s
    assert left == 1
    assert second == (0, 0, 0, 0, 0)
    start = INT_AT + wire.INT_HEADER.size
    assert out[:INT_AT] == frame[:INT_AT]
    assert out[start + wire.INT_HOP.size :] == frame[start + wire.INT_HOP.size :]


def test_int_hops_are_in_path_order_until_the_room_is_used(rig: Bench) -> None:
    rig.freeze(1000)
    frame = data(framing=FRAMING)
    for hop in range(FRAMING.int_hops):
        _, frame = rig.egress(frame)
        left, records = hops_of(frame)
        assert left == FRAMING.int_hops - hop - 1
        assert [record[1] for record in records[: hop + 1]] == [1000 + i * len(frame) for i in range(hop + 1)]
    assert rig.egress(frame) == (OK, frame)  # no room left: untouched


@pytest.mark.parametrize(
    ("at", "value"), [(1, 0), (1, 255), (7, 3), (7, 255)], ids=["short", "long", "more than reserved", "far more"]
)
def test_int_header_that_lies_is_left_alone(rig: Bench, at: int, value: int) -> None:
    """Byte 1 is the length, byte 7 the remaining hops."""
    frame = bytearray(data(framing=FRAMING))
    frame[INT_AT + at] = value
    assert rig.egress(bytes(frame)) == (OK, bytes(frame))


def test_no_int_without_the_flag(rig: Bench) -> None:
    frame = data(framing=PLAIN)
    assert rig.egress(frame) == (OK, frame)


def test_tx_bytes_grow_with_what_left(rig: Bench) -> None:
    """HPCC takes differences of it: over any two packets it must grow by what the link carried, never shrink."""
    rate = 10e6  # so slow that this loop overruns it on any machine
    rig.port(rate=rate, buffer=20_000)
    seen = []
    for i in range(400):
        verdict, out = rig.egress(data(framing=FRAMING))
        if i % 50 == 0:
            time.sleep(0.0003)
        if verdict == OK:
            seen.append(hops_of(out)[1][0])
    stamps, sent = (np.array([record[column] for record in seen], np.int64) for column in (2, 3))
    assert rig.count["dropped_packets"] > 0  # the link was busy
    assert len(seen) > 16
    assert np.diff(sent).min() >= 0
    assert (np.diff(sent) <= np.diff(stamps) * rate / 8e9 * (1 + 1e-4) + 2).all()


# -- the shaper below -----------------------------------------------------------------------------------------------


def test_the_queue_is_never_shorter_than_what_waits(rig: Bench) -> None:
    """A shaper that woke up late: the far end has seen less than the virtual queue says."""
    rig.port(rate=1e9, slack=3000, peer=PEER)
    rig.count["bytes"], rig.nic.arrivals["bytes"][PEER] = 50_000, 20_000
    rig.egress(data())
    assert rig.count["queue"] == 30_000 - 3000 + FULL
    assert rig.count["stalled"] == 30_000 - 3000
    assert rig.count["bytes"] == 50_000 + FULL
    rig.freeze(29_000)  # within the slack: nothing to correct
    rig.egress(data())
    assert rig.count["queue"] == 29_000 + FULL
    assert rig.count["stalled"] == 30_000 - 3000


def test_the_queue_is_not_longer_than_what_waits_either(rig: Bench) -> None:
    """What seemed to wait had left the shaper, and a busy core saw it late at the far end."""
    rig.port(rate=1e9, slack=3000, peer=PEER)
    rig.count["bytes"], rig.nic.arrivals["bytes"][PEER] = 50_000, 20_000
    rig.freeze(34_000)
    rig.egress(data())
    assert rig.count["queue"] == 30_000 + 3000 + FULL
    rig.freeze(32_000)  # within the slack: nothing to correct
    rig.egress(data())
    assert rig.count["queue"] == 32_000 + FULL
    assert rig.count["stalled"] == 0


def test_a_far_end_that_received_more_than_was_sent_changes_nothing(rig: Bench) -> None:
    """Frames that passed before the ports were switched on."""
    rig.port(peer=PEER)
    rig.freeze(0)
    rig.nic.arrivals["bytes"][PEER] = 5000
    rig.egress(data())
    assert (rig.count["queue"], rig.count["stalled"]) == (FULL, 0)


def test_dropped_frames_are_not_on_their_way(rig: Bench) -> None:
    rig.port(buffer=0)
    rig.egress(data())
    assert rig.count["bytes"] == 0


# -- the far end of a link -----------------------------------------------------------------------------------------


def test_what_comes_out_of_a_link_is_counted_and_goes_on(rig: Bench) -> None:
    assert [rig.ingress(data()) for _ in range(3)] == [UNSPEC] * 3
    assert rig.nic.arrivals[LOOPBACK].tolist()[:6] == (3 * FULL, 3, 0, 0, 0, 0)


def test_nothing_passes_a_link_that_was_cut(rig: Bench) -> None:
    """Lost packets count where they were sent, so both ends together tell what went in and did not come out."""
    rig.port(peer=PEER)
    rig.egress(data())
    left = int(rig.count["queue"])
    rig.ports.set_loss(Port(LOOPBACK, 1 << 16 | 7, 100e6, 1 << 20, 3000, 0.0, PEER), 1.0)
    assert [rig.egress(data())[0] for _ in range(50)] == [SHOT] * 50
    assert (rig.count["packets"], rig.count["lost_packets"]) == (1, 50)
    assert rig.count["bytes"] == FULL
    assert rig.count["queue"] <= left  # it goes on draining
    assert rig.ingress(data()) == SHOT
    assert rig.ports.counters["lost_packets"][PEER] == 1
    rig.port(peer=PEER)
    assert (rig.egress(data())[0], rig.ingress(data())) == (OK, UNSPEC)
