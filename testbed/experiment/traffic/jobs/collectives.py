"""Collective operations as messages that wait for each other, the way NCCL and MPI libraries carry them out.

Thakur, Rabenseifner, Gropp: "Optimization of Collective Communication Operations in MPICH" (2005), has ring and
halving-doubling; trees are in `trees`. A buffer that does not divide evenly has parts that differ by a byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from testbed.base.arrays import Floats, Ints
from testbed.experiment.traffic.jobs.program import Exchange


def parts(size: float, count: int) -> Floats:
    """A buffer of ``size`` bytes in ``count`` parts, each of at least a byte."""
    return np.maximum(np.diff(np.floor(np.arange(count + 1) * size / count)), 1.0)


def ring(ranks: int, size: float, rounds: int) -> Exchange:
    """``rounds`` times round a ring of ``ranks`` - 1 steps: in each every rank passes on a part that it has received.

    One round is a reduce-scatter or an allgather, two are an allreduce.
    """
    steps = rounds * (ranks - 1)
    step, src = (column.ravel() for column in np.divmod(np.arange(steps * ranks).reshape(steps, ranks), ranks))
    number = np.arange(ranks, steps * ranks)  # all but the first step wait for the neighbour's step before
    before = (step[number] - 1) * ranks + (src[number] - 1) % ranks
    return Exchange(
        src, (src + 1) % ranks, parts(size, ranks)[(src - step) % ranks], np.stack((before, number), axis=1)
    )


def halving(ranks: int, size: float) -> list[tuple[int, float]]:
    """Distance to the partner and bytes of each step of recursive halving; ``ranks`` is a power of two."""
    steps = ranks.bit_length() - 1
    return [(ranks >> (step + 1), size / 2 ** (step + 1)) for step in range(steps)]


def pairwise(ranks: int, steps: list[tuple[int, float]]) -> Exchange:
    """In each step a rank sends to the partner at that distance (exclusive or), once it has what all before sent."""
    rank, count = np.arange(ranks), len(steps)
    dst = np.stack([rank ^ distance for distance, _ in steps])
    size = np.repeat([max(1.0, float(np.floor(size))) for _, size in steps], ranks)
    number = np.arange(count * ranks).reshape(count, ranks)
    waits = [  # the partner of an earlier step sent what a rank received in it
        np.stack((number[earlier, dst[earlier]], number[step]), axis=1)
        for step in range(count)
        for earlier in range(step)
    ]
    return Exchange(np.tile(rank, count), dst.ravel(), size, np.concatenate([np.empty((0, 2), np.int64), *waits]))


def together(made: Sequence[Exchange]) -> Exchange:
    """All at once, none waiting for another."""
    first = accumulate((len(one.src) for one in made), initial=0)
    return Exchange(
        src=np.concatenate([one.src for one in made]),
        dst=np.concatenate([one.dst for one in made]),
        size=np.concatenate([one.size for one in made]),
        waits=np.concatenate([one.waits + at for one, at in zip(made, first, strict=False)]),
        channel=np.concatenate([np.broadcast_to(one.channel, one.src.shape) for one in made]),
    )


def direct(ranks: int, size: float, rounds: int) -> Exchange:
    """Each rank sends all others their part of the buffer at once; in a second round, once it has all of the first."""
    one = everybody(np.broadcast_to(parts(size, ranks), (ranks, ranks)))
    if rounds == 1:
        return one
    other = everybody(np.broadcast_to(parts(size, ranks)[:, None], (ranks, ranks)))
    received = np.argsort(one.dst, kind="stable").reshape(ranks, ranks - 1)  # rank by rank
    sent = np.argsort(other.src, kind="stable").reshape(ranks, ranks - 1) + len(one.src)
    waits = np.stack((np.repeat(received, ranks - 1, axis=1), np.tile(sent, (1, ranks - 1))), axis=-1).reshape(-1, 2)
    made = together([one, other])
    return Exchange(made.src, made.dst, made.size, np.concatenate((made.waits, waits)))


def hierarchical(ranks: int, size: float, group: int) -> Exchange:
    """An allreduce in groups of neighbours: their reduce-scatter, an allreduce with the like of all other groups, and
    their allgather, each by rings.
    """
    groups = ranks // group
    if groups == 1:
        return ring(ranks, size, 2)
    rank = np.arange(ranks).reshape(groups, group)
    near = together([among(ring(group, size, 1), row) for row in rank])
    far = together([among(ring(groups, part, 2), row) for row, part in zip(rank.T, parts(size, group), strict=True)])
    return behind(behind(near, far, ranks), near, ranks)


def behind(before: Exchange, after: Exchange, ranks: int) -> Exchange:
    """Who sends in ``after`` has received all of ``before``."""
    made, waits = together([before, after]), []
    for rank in range(ranks):
        received, sent = np.flatnonzero(before.dst == rank), np.flatnonzero(after.src == rank) + len(before.src)
        waits.append(np.stack((np.repeat(received, len(sent)), np.tile(sent, len(received))), axis=1))
    return Exchange(made.src, made.dst, made.size, np.concatenate((made.waits, *waits)))


def among(made: Exchange, ranks: Ints) -> Exchange:
    """The same by these ranks."""
    return Exchange(ranks[made.src], ranks[made.dst], made.size, made.waits)


def everybody(weights: Floats) -> Exchange:
    """All messages at once: ``weights[i, j]`` bytes from rank i to rank j, none to itself or of less than a byte."""
    ranks = len(weights)
    src = np.repeat(np.arange(ranks), ranks - 1)
    shift = np.tile(np.arange(1, ranks), ranks)
    dst = (src + shift) % ranks
    size = np.floor(weights[src, dst])
    some = size >= 1
    return Exchange(src[some], dst[some], size[some], np.empty((0, 2), np.int64))


def popularity(ranks: int, skew: float, random: np.random.Generator) -> Floats:
    """Share of each rank as a receiver: Zipf's law with exponent ``skew``, which rank is the most popular by chance."""
    shares = 1.0 / np.arange(1, ranks + 1) ** skew
    return np.asarray(random.permutation(shares / shares.sum()))
