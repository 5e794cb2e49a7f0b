"""Bolt's switch, packet by packet: each branch of its table with flags in and out, and what an SRC says.

The table is that of the published switch (bolt_cc_ns3, pfifo-bolt-queue-disc.cc).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from testbed.dataplane import wire
from testbed.dataplane.programs import Notices
from testbed.dataplane.ring import Ring
from testbed.dataplane.wire import SHIM_DEC, SHIM_FIRST, SHIM_INC, SHIM_INT, SHIM_LAST, SHIM_SRC
from tests.support.packets import (
    FUTURE,
    H1,
    H2,
    INT_AT,
    IP1,
    IP2,
    LOOPBACK,
    OK,
    PLAIN,
    SHIM_AT,
    SHOT,
    UNSPEC,
    Bench,
    bench,
    checksum,
    data,
    psn_of,
    run,
    shim_of,
    with_psn,
)

pytestmark = [pytest.mark.root, pytest.mark.parallel]
FULL = PLAIN.wire_size
THRESHOLD = 2 * FULL
FLAGS_AT = SHIM_AT + 13
MOST = 256  # PRU
SIZE = INT_AT + wire.INT_HEADER.size + wire.INT_HOP.size + 4  # of an SRC


@pytest.fixture
def bolt() -> Iterator[Bench]:
    with bench(src=Notices(THRESHOLD, FULL)) as made:
        made.port()
        yield made


def flagged(flags: int, frame: bytes = b"") -> bytes:
    frame = frame or data()
    return frame[:FLAGS_AT] + bytes([flags]) + frame[FLAGS_AT + 1 :]


def passed(rig: Bench, flags: int) -> int:
    """The flags with which a data packet with these goes on."""
    verdict, out = rig.egress(flagged(flags))
    assert verdict == OK
    assert out == flagged(out[FLAGS_AT])  # nothing else has changed
    return out[FLAGS_AT]


def state(rig: Bench) -> tuple[int, int]:
    """Supply in bytes (SM), packets that leave (PRU)."""
    assert rig.ports.bolt is not None
    now = rig.ports.bolt[LOOPBACK]
    return int(now["supply"]) >> wire.RATE_SHIFT, int(now["leaving"])


def prepared(rig: Bench, queue: int, supply: int, leaving: int) -> None:
    """No time passes, so that the supply only shrinks: by every packet that comes."""
    rig.freeze(queue)
    assert rig.ports.bolt is not None
    rig.ports.bolt[LOOPBACK] = (supply << wire.RATE_SHIFT, leaving, 0, 0)


@pytest.mark.parametrize(
    ("given", "queue", "supply", "leaving", "out", "supply_after", "leaving_after"),
    [
        # a queue: nobody may grow, and the sender is told once
        (SHIM_INC, THRESHOLD, FULL, 5, SHIM_DEC, 0, 5),
        (SHIM_INC | SHIM_DEC, THRESHOLD, FULL, 5, SHIM_DEC, 0, 5),
        (SHIM_LAST, THRESHOLD, FULL, 5, SHIM_LAST | SHIM_DEC, 0, 5),
        (SHIM_FIRST, THRESHOLD, FULL, 5, SHIM_FIRST | SHIM_DEC, 0, 5),
        # just none: packets of an ending flow leave their share
        (SHIM_LAST, THRESHOLD - 1, FULL, 5, SHIM_LAST, 0, 6),
        (SHIM_LAST, 0, FULL, MOST, SHIM_LAST, 0, MOST),
        (SHIM_LAST | SHIM_FIRST, 0, FULL, 5, SHIM_LAST | SHIM_FIRST, 0, 5),
        (SHIM_FIRST, 0, FULL, 5, SHIM_FIRST, 0, 5),
        # growth takes what leaves, then what nobody has sent, or is denied
        (SHIM_INC, THRESHOLD - 1, 2 * FULL, 5, SHIM_INC, FULL, 4),
        (SHIM_INC, 0, 2 * FULL, 0, SHIM_INC, 0, 0),
        (SHIM_INC, 0, 2 * FULL - 1, 0, 0, FULL - 1, 0),
        (SHIM_INC, 0, -5000, 0, 0, -5000 - FULL, 0),
        (SHIM_DEC, 0, FULL, 5, SHIM_DEC, 0, 5),  # from a switch upstream
    ],
)
def test_every_branch_of_the_switch(
    bolt: Bench, *, given: int, queue: int, supply: int, leaving: int, out: int, supply_after: int, leaving_after: int
) -> None:
    """The supply is compared after the packet's own size has been taken off it."""
    prepared(bolt, queue, supply, leaving)
    assert passed(bolt, SHIM_SRC | given) == SHIM_SRC | out
    assert state(bolt) == (supply_after, leaving_after)
    assert bolt.ports.bolt is not None
    asks = bool(out & SHIM_DEC) and not given & SHIM_DEC
    assert bolt.ports.bolt["asked"][LOOPBACK] == asks


@pytest.mark.parametrize("flags", [0, SHIM_INC, SHIM_LAST, SHIM_FIRST | SHIM_DEC])
def test_flows_that_want_no_srcs_are_left_alone(bolt: Bench, flags: int) -> None:
    for queue in (0, 10 * FULL):
        prepared(bolt, queue, 0, 7)
        assert passed(bolt, flags) == flags
        assert state(bolt) == (-FULL, 7)
    assert bolt.ports.bolt is not None
    assert bolt.ports.bolt["asked"][LOOPBACK] == 0


def test_supply_is_what_the_link_could_have_carried_up_to_a_packet(bolt: Bench) -> None:
    """B x dt - s, with dt read back from the program; and after a long pause not more than a packet."""
    assert bolt.ports.bolt is not None
    rate = 1e6
    bolt.port(rate=rate)
    for debt in (10_000, 100_000):
        began = int(bolt.count["last_ns"])
        bolt.ports.bolt["supply"][LOOPBACK] = -debt << wire.RATE_SHIFT
        bolt.egress(data())
        gained = (int(bolt.count["last_ns"]) - began) / 1e9 * rate / 8
        expected = min(gained - debt - FULL, FULL) if began else FULL
        assert state(bolt)[0] == pytest.approx(expected, abs=2)
    bolt.set_queue(0, 1)  # as if nothing had come since the machine was started
    bolt.egress(data())
    assert state(bolt)[0] == FULL


def test_answers_count_in_the_supply_and_ask_for_nothing(bolt: Bench) -> None:
    prepared(bolt, 10 * FULL, FULL, 3)
    ack = bytearray(flagged(SHIM_SRC | SHIM_INC))
    ack[42] = wire.ACK
    assert bolt.egress(bytes(ack)) == (OK, bytes(ack))
    assert state(bolt) == (0, 3)
    assert bolt.ports.bolt is not None
    assert bolt.ports.bolt["asked"][LOOPBACK] == 0


def test_growth_never_exceeds_what_left(bolt: Bench) -> None:
    """PRU is conserved: INC that passes without supply is at most LAST that came before."""
    draws = np.random.default_rng(1).random(400)
    prepared(bolt, 0, -(1 << 20), 0)
    granted = announced = 0
    for draw in draws:
        bolt.freeze(0)
        if draw < 0.3:
            passed(bolt, SHIM_SRC | SHIM_LAST)
            announced += 1
        else:
            granted += passed(bolt, SHIM_SRC | SHIM_INC) != SHIM_SRC
        assert granted <= announced
    assert granted == announced - state(bolt)[1] > 0


# -- the SRC --------------------------------------------------------------------------------------------------------


def src_of(rig: Bench, frame: bytes, queue: int) -> tuple[int, bytes]:
    """What comes of a copy that has been marked with the queue, as `port_egress` does."""
    assert rig.ports.src_fd is not None
    return run(rig.ports.src_fd, frame, mark=queue)


@pytest.mark.parametrize("payload", [1, PLAIN.payload], ids=["shorter than an SRC", "full"])
def test_an_src_goes_to_the_sender_and_says_what_its_packet_found(bolt: Bench, payload: int) -> None:
    bolt.port(rate=1e9)
    sent = bolt.tx(flagged(SHIM_SRC | SHIM_DEC, data(flow=3, payload=payload, dst=H2)))
    verdict, src = src_of(bolt, sent, 4321)
    assert verdict == OK
    assert len(src) == SIZE
    assert (src[0:6], src[6:12], src[26:30], src[30:34]) == (H1, H2, IP2, IP1)
    assert src[34:38] == sent[34:38]
    assert int.from_bytes(src[16:18], "big") == SIZE - 14
    assert int.from_bytes(src[38:40], "big") == SIZE - 34
    assert checksum(src[14:34]) == 0
    assert (src[15], src[22]) == (0, 64)
    opcode, _, _, qp, psn, _ = wire.BTH.unpack_from(src, 42)
    assert (opcode, qp, psn) == (wire.SRC, wire.QP_BASE + 3, psn_of(sent))
    departure, size, of_payload, _, flags, _ = shim_of(src)
    assert (departure, size, of_payload) == shim_of(sent)[:3]
    assert flags & SHIM_INT
    assert src[INT_AT : INT_AT + 16] == wire.int_header(1)[:7] + b"\0" + wire.int_header(1)[8:16]  # no room is left
    node, queue, _, _, kbps = wire.INT_HOP.unpack_from(src, INT_AT + wire.INT_HEADER.size)
    assert (node, queue, kbps) == (1 << 16 | 7, 4321, 1_000_000)
    assert src[-4:] == b"\0" * 4
    assert bolt.ports.bolt is not None
    assert bolt.ports.bolt["made"][LOOPBACK] == bolt.nic.flows_tx["notices_made"][3] == 1


def test_what_is_not_marked_goes_on_to_the_next_program(bolt: Bench) -> None:
    for frame in (data(), flagged(SHIM_SRC | SHIM_INC), b"\xff" * 6 + H1 + b"\x08\x06" + bytes(46)):
        assert src_of(bolt, frame, 0) == (UNSPEC, frame)
    assert bolt.ports.bolt is not None
    assert bolt.ports.bolt["made"][LOOPBACK] == 0


def test_the_sender_hears_of_it_once_per_packet() -> None:
    """Into a ring of its own, with the port's record."""
    with bench(src=Notices(THRESHOLD, FULL), rings=2) as rig:
        rig.port()
        rig.nic.flows_tx["notice_ring"][5] = 1
        acks, srcs = (Ring(fd, rig.nic.ring_size) for fd in rig.nic.ring_fds)
        sent = with_psn(flagged(SHIM_SRC | SHIM_DEC, data(flow=5)), 77)
        assert rig.rx(src_of(rig, sent, 9999)[1])[0] == SHOT  # consumed
        assert len(acks.waiting()) == 0
        (record,) = srcs.waiting()
        assert (record["opcode"], record["flow"], record["psn"], record["hops"]) == (wire.SRC, 5, 77, 1)
        assert (record["hop"][0]["queue"], record["hop"][0]["rate"]) == (9999, 100_000)
        counted = rig.nic.flows_tx[5]
        assert (counted["notices"], counted["acks"], counted["cnps"]) == (1, 0, 0)


def test_acks_repeat_the_flags(bolt: Bench) -> None:
    ring = Ring(bolt.nic.ring_fds[0], bolt.nic.ring_size)
    for flags in (SHIM_SRC | SHIM_INC, SHIM_SRC | SHIM_DEC, SHIM_SRC | SHIM_LAST | SHIM_FIRST):
        _, ack = bolt.rx(flagged(flags))
        bolt.rx(ack)
    assert ring.waiting()["flags"].tolist() == [0x24, 0x44, 0x1C]


def test_programs_without_bolt_do_not_know_srcs() -> None:
    """Nor do their ports touch a flag: all flags on the wire are as they were sent."""
    with bench() as rig:
        rig.port()
        assert rig.ports.src_fd is None
        rig.freeze(100 * FULL)
        for flags in itertools.chain(range(0, 0x80, 2)):
            rig.set_queue(100 * FULL, FUTURE)
            assert rig.egress(flagged(flags))[1] == flagged(flags)
        src = bytearray(data())
        src[42] = wire.SRC
        assert rig.rx(bytes(src))[0] == OK
