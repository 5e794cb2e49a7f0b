"""The port program between two lossless switches: what a pause does to its queue, and whose account a packet is on."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest

from testbed.clock import Clock, WallRate
from testbed.dataplane import pauses, wire
from testbed.dataplane.port_maps import Port
from testbed.dataplane.port_reader import PortReader
from testbed.dataplane.programs import Thresholds
from testbed.dataplane.ring import Ring
from testbed.engines.kernel.pfc.generator import EVENTS_SIZE
from testbed.engines.kernel.rack import pause_frames
from tests.support.packets import LOOPBACK, OK, PLAIN, SHIM_AT, SHOT, UNSPEC, Bench, bench, data, on_the_wire

pytestmark = [pytest.mark.root, pytest.mark.measures]
MAC = bytes.fromhex("020100000003")
RATE = 100e6
FULL = PLAIN.wire_size
UPSTREAM = 5  # ifindex of the port at which packets came into the switch before


@pytest.fixture
def rig() -> Iterator[Bench]:
    with bench(pfc=Thresholds(4 * FULL, 2 * FULL, 8 * FULL)) as made:
        made.port(rate=RATE)
        made.nic.pauses[LOOPBACK]["quantum_ps"] = 5_120_000
        yield made


def events(rig: Bench) -> list[tuple[int, int]]:
    """What the engine is told: port and event."""
    return [
        (int(one["port"]), int(one["what"]))
        for one in Ring(rig.nic.pause_events_fd, EVENTS_SIZE, wire.PAUSE_EVENT).waiting()
    ]


def came_from(frame: bytes, ingress: int) -> bytes:
    """The frame with another account in its shim."""
    at = SHIM_AT + wire.SHIM.size - 2
    return frame[:at] + ingress.to_bytes(2, "big") + frame[at + 2 :]


def test_a_paused_port_does_not_drain(rig: Bench) -> None:
    size, held, drained = 50_000, 2_000_000, 1_000_000  # bytes, ns
    now = time.monotonic_ns()
    rig.set_queue(size, now - held - drained)
    note = rig.nic.pauses[LOOPBACK]
    note["span"][0] = (now - held - drained // 2, now - drained // 2)
    before = time.monotonic_ns()
    assert rig.egress(data())[0] == OK
    after = time.monotonic_ns()
    draining = np.array([before, after]) - now + drained  # ns: the machine may have stood still in between
    left = size - draining / 1e9 * RATE / 8
    assert left[1] - 1 <= rig.count["queue"] - FULL <= left[0] + 1
    area = size * held + draining * (size + left) / 2
    assert area[0] * 0.999 <= rig.count["area"] <= area[1] * 1.001
    # read in between, it is paused from its last arrival on but for what the pause has been over
    rig.count["queue"], rig.count["last_ns"] = size, now - held
    reader = PortReader(rig.ports, [Port(LOOPBACK, 0, WallRate(RATE), 1 << 30, 0)], Clock(1.0))
    assert reader.sample(now)["queue"][0] == pytest.approx(size - drained // 2 / 1e9 * RATE / 8, rel=1e-9)


def test_answers_pass_a_paused_port_and_data_waits(rig: Bench) -> None:
    now = time.monotonic_ns()
    rig.set_queue(50_000, now)
    rig.nic.pauses[LOOPBACK]["span"][0] = (now, now + 10**10)
    answer = on_the_wire(bytes([wire.ACK]) + bytes(60))
    assert [rig.egress(frame)[0] for frame in (answer, data())] == [OK, OK]
    assert rig.count["queue"] == 50_000 + FULL
    assert rig.count["bytes"] == len(answer) + FULL


def test_a_pause_frame_is_noted_and_told(rig: Bench) -> None:
    now = time.monotonic_ns()
    assert rig.ingress(pause_frames.frame(MAC, wire.LOSSLESS, 1000, now)) == SHOT
    note = rig.nic.pauses[[LOOPBACK]]
    assert not pauses.are_resumed(note, now).any()
    assert note["frames"][0] == 1
    assert events(rig) == [(LOOPBACK, wire.PAUSE_RECEIVED)]
    assert rig.nic.arrivals["packets"][LOOPBACK] == 0  # it came past the queue of the port that sent it


def test_what_wakes_a_shaper_up_is_no_packet_of_the_experiment(rig: Bench) -> None:
    wake = pause_frames.wake(MAC)
    assert rig.egress(wake)[0] == OK
    assert (rig.count["packets"], rig.count["queue"]) == (0, 0)
    assert rig.ingress(wake) == SHOT
    assert rig.nic.pauses[LOOPBACK]["frames"] == 0
    assert rig.nic.arrivals["packets"][LOOPBACK] == 0


def test_a_packet_leaves_its_account_at_the_end_of_the_link(rig: Bench) -> None:
    account = rig.nic.ingresses[UPSTREAM]
    account["bytes"], account["paused"] = 3 * FULL, 1
    frame = came_from(data(), UPSTREAM)
    assert rig.ingress(frame) == UNSPEC
    assert account["bytes"] == 2 * FULL
    assert events(rig) == [(UPSTREAM, wire.BELOW_XON)]
    rig.ports.set_loss(Port(LOOPBACK, 1, RATE, 1 << 20, 3000), 1.0)  # one that is lost there as well
    assert rig.ingress(frame) == SHOT
    assert account["bytes"] == FULL
