"""What the messages of a collective operation carry."""

from __future__ import annotations

import numpy as np

from testbed.experiment.traffic.jobs.program import Exchange


def carried(made: Exchange) -> list[frozenset[int]]:
    """Whose contributions are in each message: its sender's, and those in what it waits for."""
    waits: dict[int, list[int]] = {}
    for before, after in made.waits.tolist():
        waits.setdefault(after, []).append(before)
    found: dict[int, frozenset[int]] = {}
    while len(found) < len(made.src):
        for n, src in enumerate(made.src.tolist()):
            received = [one for one in waits.get(n, []) if made.dst[one] == src]
            if n not in found and all(one in found for one in received):
                found[n] = frozenset({src}).union(*(found[one] for one in received))
    return [found[n] for n in range(len(made.src))]


def whole(made: Exchange, ranks: int) -> list[float]:
    """Bytes that carry everybody's contributions to each rank."""
    full = np.array([len(one) == ranks for one in carried(made)])
    return [float(made.size[full & (made.dst == rank)].sum()) for rank in range(ranks)]


def sent(made: Exchange, ranks: int) -> list[float]:
    return [float(made.size[made.src == rank].sum()) for rank in range(ranks)]
