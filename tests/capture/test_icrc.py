"""The iCRC, against another implementation (scapy's), and what must not change it."""

from __future__ import annotations

import pytest
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from testbed.capture.icrc import sealed
from tests.support.packets import CE, ECT0, FRAMING, PLAIN, data


def of_scapy(frame: bytes) -> bytes:
    """As scapy computes it over the same bytes."""
    payload = bytes(Ether(frame)[UDP].payload)
    packet = IP(frame[14:34]) / UDP(frame[34:42]) / BTH(payload)
    return bytes(packet[BTH].compute_icrc(payload))


@pytest.mark.parametrize("framing", [PLAIN, FRAMING], ids=["plain", "INT"])
@pytest.mark.parametrize("payload", [0, 1, 1000])
def test_it_is_that_of_others(framing: object, payload: int) -> None:
    frame = data(flow=3, framing=framing, psn=70_000, payload=payload, tos=ECT0)  # type: ignore[arg-type]
    assert sealed(frame)[:-4] == frame[:-4]
    assert sealed(frame)[-4:] == of_scapy(frame)


def test_what_routers_change_does_not() -> None:
    marked = bytearray(data(psn=5, tos=CE))
    marked[22] -= 1  # TTL
    marked[24:26] = b"\x12\x34"  # checksum
    marked[46] |= 0x80  # FECN
    assert sealed(bytes(marked))[-4:] == sealed(data(psn=5, tos=ECT0))[-4:]
    assert sealed(data(psn=5))[-4:] != sealed(data(psn=6))[-4:]


@pytest.mark.parametrize("frame", [b"", bytes(60), data()[:50], data(dst=b"\x01" * 6)[:12] + bytes(60)])
def test_others_stay_as_they_are(frame: bytes) -> None:
    assert sealed(frame) == frame
