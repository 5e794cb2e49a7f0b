"""Bus bandwidth of a ring allreduce on an empty rack beside its closed form; ``python -m tests.engines.virtual.rings``.

A step takes until the last byte of a part has arrived. While a host sends, it also acknowledges what its neighbour
sends, as soon as that begins to arrive, over the same line.
"""

from __future__ import annotations

from math import ceil

from tests.support.simulated import measured
from tests.support.theory import HEADERS, LINE, PROPAGATION

MIB = 1 << 20
PAYLOAD = 4096  # of jobs
EXPERIMENT = """
traffic: {pattern: allreduce, ranks: %d, size: %d B, iterations: 1}
controller: {name: fixed, rate: 100 Gbit/s}
time: {duration: %g us, warmup: 0}
record: {interval: %g us, report: false}
"""


def bus_bandwidth(ranks: int, size: float) -> float:
    """Bit/s, by nccl-tests' definition."""
    part = size / ranks
    packets = ceil(part / PAYLOAD)
    data, acks = part + packets * HEADERS, packets * HEADERS
    last = part - (packets - 1) * PAYLOAD + HEADERS
    there = PROPAGATION / 2 + last * 8 / LINE
    sending = (data + acks) * 8 / LINE
    for _ in range(50):  # acknowledgements begin to leave when a neighbour's first packet has arrived
        sending = (data + acks * (1 - there / max(sending, there))) * 8 / LINE
    return 8 * size / (2 * (ranks - 1) * (sending + there)) * 2 * (ranks - 1) / ranks


def found(ranks: int, mebibytes: int) -> float:
    """The same, measured."""
    size = mebibytes * MIB
    enough = 1e6 * 2 * 8 * size / bus_bandwidth(ranks, size) * 1.2
    return measured(EXPERIMENT % (ranks, size, enough, enough / 100), controller="").jobs[0].bus_bandwidth


if __name__ == "__main__":
    for ranks in (8, 16, 32):
        for mebibytes in (1, 4, 16, 64):
            ours, closed = found(ranks, mebibytes), bus_bandwidth(ranks, mebibytes * MIB)
            print(f"{ranks:3} ranks {mebibytes:3} MiB: {ours / 1e9:6.2f} Gbit/s, closed form {closed / 1e9:6.2f}, "
                  f"{100 * (ours / closed - 1):+.2f} %", flush=True)  # fmt: skip
