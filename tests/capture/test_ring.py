"""The kernel's ring, on loopback, where what leaves comes in."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from testbed.capture.ring import Batch, Ring
from tests.support.waiting import until

pytestmark = [pytest.mark.root, pytest.mark.parallel]
SENT = [f"packet {number} of test_ring".encode() for number in range(10)]


@pytest.mark.parametrize("outgoing", [True, False])
def test_what_leaves_can_be_left_out(outgoing: bool) -> None:
    batches: list[Batch] = []

    def ours() -> list[tuple[bytes, bool]]:
        batches.extend(iter(ring.batch, None))
        both = [one for batch in batches for one in zip(batch.frames, batch.outgoing, strict=True)]
        return [(frame[-len(SENT[0]) :], out) for frame, out in both if frame[-len(SENT[0]) :] in SENT]

    with Path("/proc/self/ns/net").open() as here, socket.socket(type=socket.SOCK_DGRAM) as one:
        ring = Ring(here.fileno(), "lo", 200, outgoing=outgoing)
        try:
            one.bind(("127.0.0.1", 0))
            for packet in SENT:
                one.sendto(packet, one.getsockname())
            until(lambda: [packet for packet, out in ours() if not out] == SENT)
            assert [packet for packet, out in ours() if out] == (SENT if outgoing else [])
        finally:
            ring.close()
