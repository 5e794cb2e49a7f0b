"""A capture of three frames, and what is known of it."""

from __future__ import annotations

import io

from testbed.capture.pcapng import Writer
from tests.support.packets import FRAMING, PLAIN, data

FRAMES = [data(flow=1, framing=PLAIN, psn=7), data(flow=2, framing=FRAMING, psn=8)[:257], data(payload=3)]
TIMES = [1, 5_000_000_001, 5_000_000_001]
LENGTHS = [len(FRAMES[0]), 1150, len(FRAMES[2])]
OUTGOING = [True, False, True]
ABOUT = ("port:s1-eth65", "about it", 100e9, 256)


def written() -> bytes:
    file = io.BytesIO()
    writer = Writer(file)
    writer.section("testbed x", ["one", "two"])
    writer.interface(*ABOUT)
    writer.packets(TIMES, FRAMES, LENGTHS, OUTGOING)
    writer.statistics(6_000_000_000, received=5, dropped=2)
    return file.getvalue()
