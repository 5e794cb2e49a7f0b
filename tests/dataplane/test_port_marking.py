"""Marks and random losses at a port against their probabilities; thresholds that change between two packets.

The clock of the virtual queue stands still (`Bench.freeze`). The random numbers of a port are seeded, so a test sees
the same ones every time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import sqrt

import numpy as np
import pytest
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, TCP, UDP, IPOption
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether

from tests.support.packets import (
    CE,
    ECT0,
    LOOPBACK,
    NOT_ECT,
    OK,
    PLAIN,
    Bench,
    checksum,
    data,
    ecn_of,
    frame_of,
)

pytestmark = [pytest.mark.root, pytest.mark.parallel]
SIGMAS = 4.5  # one test in 10^5 would fail with other seeds
FULL = PLAIN.wire_size


def expect_share(hits: int, of: int, probability: float) -> None:
    """Binomial: within `SIGMAS` standard deviations of the expected number."""
    assert abs(hits - of * probability) <= SIGMAS * sqrt(of * probability * (1 - probability)) + 1e-9


# -- marking --------------------------------------------------------------------------------------------------------


def marked(rig: Bench, queue: int, packets: int) -> int:
    """How many of ``packets`` are marked that all find ``queue`` bytes; checks every frame against the counter."""
    before, frames = int(rig.count["marked_packets"]), 0
    for _ in range(packets):
        rig.freeze(queue)
        verdict, out = rig.egress(data())
        assert verdict == OK
        frames += ecn_of(out) == CE
    assert rig.count["marked_packets"] - before == frames
    return frames


def test_red_follows_its_law(rig: Bench) -> None:
    """Zhu et al. (SIGCOMM 2015): 0 up to Kmin, linear to Pmax at Kmax, 1 above."""
    kmin, kmax, pmax, n = 40_000, 160_000, 0.2, 4000
    rig.ports.set_red(LOOPBACK, kmin, kmax, pmax)
    assert rig.ports.red(np.array([LOOPBACK])).ravel() == pytest.approx((kmin, kmax, pmax))
    for queue in (0, 20_000, kmin):
        assert marked(rig, queue, 500) == 0
    for share in (0.05, 0.25, 0.5, 0.75, 1.0):
        expect_share(marked(rig, round(kmin + share * (kmax - kmin)), n), n, pmax * share)
    for queue in (kmax + 1, 2 * kmax):
        assert marked(rig, queue, 500) == 500
    assert rig.count["marked_bytes"] == rig.count["marked_packets"] * FULL


def test_red_with_equal_thresholds_is_a_step(rig: Bench) -> None:
    """DCTCP's marking."""
    for pmax in (0.0, 0.5, 1.0):
        rig.ports.set_red(LOOPBACK, 50_000, 50_000, pmax)
        assert (marked(rig, 50_000, 50), marked(rig, 50_001, 50)) == (0, 50)


@pytest.mark.parametrize("pmax", [0.0, 1.0])
def test_red_at_the_ends_of_pmax(rig: Bench, pmax: float) -> None:
    rig.ports.set_red(LOOPBACK, 0, 1000, pmax)
    assert rig.ports.red(np.array([LOOPBACK]))[2] == pmax
    assert marked(rig, 1000, 1000) == 1000 * pmax


def test_ports_draw_different_numbers_and_repeat_their_own(rig: Bench) -> None:
    def draws(seed: int) -> list[int]:
        rig.port(seed=seed)
        rig.ports.set_red(LOOPBACK, 0, 2000, 1.0)
        found = []
        for _ in range(64):
            rig.freeze(1000)
            found.append(ecn_of(rig.egress(data())[1]))
        return found

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)


@pytest.mark.parametrize("tos", [NOT_ECT, ECT0, 1, 0x68 | ECT0, CE])
def test_only_ect_is_marked(rig: Bench, tos: int) -> None:
    """RFC 3168: never set CE on a packet whose sender does not understand it. DSCP stays as it is."""
    rig.ports.set_red(LOOPBACK, 0, 0, 1.0)
    rig.freeze(1000)
    frame = data(tos=tos)
    verdict, out = rig.egress(frame)
    assert verdict == OK
    if tos & 3 == NOT_ECT:
        assert out == frame
        assert rig.count["marked_packets"] == 0
    else:
        assert out[15] == tos | CE
        assert checksum(out[14:34]) == 0
        assert rig.count["marked_packets"] == 1


ETHER = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
ECT1 = 1
OTHERS = {
    "TCP": ETHER / IP(tos=ECT0, src="10.0.0.1", dst="10.0.0.2") / TCP(dport=5201) / bytes(1000),
    "L4S": ETHER / IP(tos=0x20 | ECT1, src="10.0.0.1", dst="10.0.0.2") / TCP(dport=443),
    "options": ETHER / IP(tos=ECT0, src="10.0.0.1", dst="10.0.0.2", options=[IPOption(b"\x01" * 4)]) / UDP(),
    "QUIC over IPv6": ETHER / IPv6(tc=0x68 | ECT0, src="fd00::1", dst="fd00::2") / UDP(dport=443) / bytes(800),
    "VLAN": ETHER / Dot1Q(vlan=7) / IP(tos=ECT1, src="10.0.0.1", dst="10.0.0.2") / TCP() / bytes(64),
    "two tags": ETHER / Dot1AD(vlan=7) / Dot1Q(vlan=8) / IPv6(tc=ECT0, src="fd00::1", dst="fd00::2") / TCP(),
    "WRITE First": ETHER / IP(tos=ECT0, src="10.0.0.1", dst="10.0.0.2") / UDP(dport=4791) / BTH(opcode=6) / bytes(1040),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_others_sent_is_marked_as_well(rig: Bench, what: str) -> None:
    """RFC 3168, sections 5 and 23: by the IP header alone, which stays valid."""
    rig.ports.set_red(LOOPBACK, 0, 0, 1.0)
    rig.freeze(1000)
    sent = bytes(OTHERS[what])
    verdict, out = rig.egress(sent)
    asked, got = Ether(sent), Ether(out)
    for layer, name in ((IP, "tos"), (IPv6, "tc")):
        if layer in asked:
            setattr(asked[layer], name, getattr(asked[layer], name) | CE)
    if IP in asked:
        del asked[IP].chksum
    assert (verdict, got) == (OK, Ether(bytes(asked)))
    assert (rig.count["marked_packets"], rig.count["marked_bytes"]) == (1, len(sent))


@pytest.mark.parametrize("what", OTHERS)
def test_of_others_too_only_ect_is_marked(rig: Bench, what: str) -> None:
    rig.ports.set_red(LOOPBACK, 0, 0, 1.0)
    rig.freeze(1000)
    plain = OTHERS[what].copy()
    if IP in plain:
        plain[IP].tos &= ~CE
    else:
        plain[IPv6].tc &= ~CE
    for frame in (bytes(plain), bytes(ETHER / ARP()), bytes(ETHER / Dot1Q(vlan=7) / ARP())):
        assert rig.egress(frame) == (OK, frame)
    assert (rig.count["marked_packets"], rig.count["packets"]) == (0, 3)


@contextmanager
def flipping(write: Callable[[bool], None]) -> Iterator[list[int]]:
    """Another thread that calls ``write`` with True and False in turns; yields how often it did."""
    done, turns = threading.Event(), [0]

    def work() -> None:
        while not done.is_set():
            write(turns[0] % 2 == 0)
            turns[0] += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield turns
    finally:
        done.set()
        thread.join()


def test_no_packet_sees_half_of_a_change(rig: Bench) -> None:
    """Between 20 and 60 kB neither setting marks. A mixture, Kmin of one with Pmax of the other, marks every second."""
    one, other, mixture = (10_000, 70_000, 0.0), (60_000, 70_000, 1.0), (10_000, 70_000, 1.0)
    small = frame_of(PLAIN.overhead + 1)
    packets = 40_000 // len(small)  # in one system call, so that the other thread writes meanwhile

    def fill() -> int:
        before = int(rig.count["marked_packets"])
        rig.freeze(20_000)
        rig.egress(small, repeat=packets)
        return int(rig.count["marked_packets"]) - before

    rig.ports.set_red(LOOPBACK, *mixture)
    assert fill() > packets // 4  # the test sees a mixture
    rig.ports.set_red(LOOPBACK, *one)
    with flipping(lambda even: rig.ports.set_red(LOOPBACK, *(one if even else other))) as turns:
        rounds = marks = 0
        while rounds < 1000 or turns[0] < 10_000:
            marks += fill()
            rounds += 1
    assert marks == 0
    rig.ports.set_red(LOOPBACK, *mixture)
    assert fill() > packets // 4


# -- loss -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("probability", [0.0, 1e-3, 0.3, 1.0])
def test_random_loss_has_its_probability(rig: Bench, probability: float) -> None:
    rig.port(loss=probability, buffer=1 << 31)
    rig.ports.set_red(LOOPBACK, 0, 1 << 31, 0.0)
    rig.freeze(0)
    n = 20_000
    rig.egress(data(), repeat=n)
    expect_share(int(rig.count["lost_packets"]), n, probability)
    assert rig.count["packets"] == n - rig.count["lost_packets"]
    assert rig.count["queue"] == rig.count["packets"] * FULL  # what is lost takes no place
    assert rig.count["dropped_packets"] == 0


def test_loss_and_marking_are_independent(rig: Bench) -> None:
    rig.port(loss=0.3)
    rig.ports.set_red(LOOPBACK, 0, 100_000, 1.0)
    n = 6000
    for _ in range(n):
        rig.freeze(40_000)
        rig.egress(data())
    survived = int(rig.count["packets"])
    expect_share(survived, n, 0.7)
    expect_share(int(rig.count["marked_packets"]), survived, 0.4)


def test_marks_do_not_come_in_runs(rig: Bench) -> None:
    """Pairs of neighbours: with p = 0.5 half of them differ."""
    rig.ports.set_red(LOOPBACK, 0, 100_000, 1.0)
    marks = []
    for _ in range(4000):
        rig.freeze(50_000)
        marks.append(ecn_of(rig.egress(data())[1]) == CE)
    expect_share(int(np.count_nonzero(np.diff(np.array(marks, int)))), len(marks) - 1, 0.5)
