"""The receiver's NIC where packets are sent again under their numbers (receive.bpf.h), in the kernel."""

from __future__ import annotations

import pytest

from testbed.dataplane import wire
from tests.support.packets import CE, FUTURE, OK, REDIRECT, SHIM_AT, SHOT, Bench, bench, data, psn_of, shim_of

pytestmark = [pytest.mark.root, pytest.mark.parallel]
BACK, REPEAT = (wire.GO_BACK_N, 0), (wire.SELECTIVE_REPEAT, 64)
WRAP = 1 << 24


def again(frame: bytes) -> bytes:
    """It was sent before."""
    flags = SHIM_AT + 13
    return frame[:flags] + bytes([frame[flags] | wire.SHIM_AGAIN]) + frame[flags + 1 :]


def answers(rig: Bench, *psns: int, tos: int = 2) -> list[str]:
    """To packets of these numbers, one after the other."""
    found = []
    for psn in psns:
        verdict, out = rig.rx(data(psn=psn % WRAP, tos=tos))
        assert verdict in (SHOT, REDIRECT)
        syndrome = out[54]
        name = {wire.AETH_ACK: "ack", wire.AETH_NAK: "nak"}.get(syndrome, "?")
        found.append(f"{name} {psn_of(out)}" if verdict == REDIRECT else "-")
    return found


def test_numbers_are_the_senders() -> None:
    with bench(recovery=BACK) as rig:
        assert [psn_of(rig.tx(data(psn=psn))) for psn in (7, 3)] == [7, 3]
        assert rig.nic.flows_tx["packets"][0] == 2


def test_going_back() -> None:
    """One NAK per gap; what came again is acknowledged again."""
    with bench(recovery=BACK) as rig:
        assert answers(rig, 0, 2, 3, 1, 2, 0) == ["ack 0", "nak 1", "-", "ack 1", "ack 2", "ack 2"]
        (got, *_) = rig.nic.receivers()
        assert (got["delivered"], got["duplicates"], got["discarded"], got["expected"]) == (3, 1, 2, 3)
        assert (got["acks"], got["naks"], got["overtaken"], got["payload_bytes"]) == (4, 1, 1, 3000)


def test_what_was_asked_for_and_comes_again_was_lost() -> None:
    with bench(recovery=BACK) as rig:
        answers(rig, 1)
        rig.rx(again(data(psn=0)))
        assert rig.nic.receivers()["overtaken"][0] == 0


def test_selective_repeat_keeps_what_its_bitmap_holds() -> None:
    with bench(recovery=REPEAT) as rig:
        assert answers(rig, 0, 2, 4, 65, 1, 3) == ["ack 0", "nak 1", "nak 1", "-", "ack 2", "ack 4"]
        (got, *_) = rig.nic.receivers()
        assert (got["delivered"], got["discarded"], got["expected"]) == (5, 1, 5)
        assert not got["kept"].any()


def test_a_nak_names_what_it_answers_and_marks_are_told_once() -> None:
    with bench(recovery=REPEAT) as rig:
        rig.nic.flows_rx["last_cnp_ns"][0] = FUTURE  # no CNP now
        _, nak = rig.rx(data(psn=3, tos=CE))
        assert (psn_of(nak), shim_of(nak)[1:3]) == (0, (1, 3))
        assert shim_of(nak)[4] & wire.SHIM_CE
        _, ack = rig.rx(data(psn=0))
        assert (psn_of(ack), shim_of(ack)[1:3], shim_of(ack)[4]) == (0, (0, 0), 0)


def test_a_stranger_is_not_received() -> None:
    with bench(recovery=BACK) as rig:
        assert rig.rx(data(flow=1000))[0] == OK
