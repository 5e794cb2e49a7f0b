"""Collective operations as messages that wait for each other, the way NCCL and MPI libraries carry them out.

Thakur, Rabenseifner, Gropp: "Optimization of Collective Communication Operations in MPICH" (2005), has ring and
halving-doubling; trees are pipelined in chunks. A buffer that does not divide evenly has parts that differ by a byte.
"""

from __future__ import annotations

import numpy as np

from testbed.base.arrays import Floats
from testbed.experiment.traffic.jobs.program import Exchange

AT_ONCE = 2  # chunks on one edge of a tree: while one is acknowledged as received the next is on its way


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


def tree(ranks: int, size: float, chunks: int) -> Exchange:
    """Up a binary tree and down again, chunk by chunk: rank r has the children 2 r + 1 and 2 r + 2.

    A rank passes on a chunk when it has that of both children, or that of its parent. Of an edge, `AT_ONCE` chunks are
    on their way at a time.
    """
    links = ranks - 1  # each named by the child, from 1
    count = chunks * links  # of messages up; that down the same link is as many further
    up = np.arange(count)
    chunk, child = np.divmod(up, links)
    child += 1
    parent = (child - 1) // 2
    inner = up[parent > 0]
    above = chunk[inner] * links + parent[inner] - 1  # the message of the link above
    root = range(min(2, links))
    turning = [(c * links + one, c * links + other + count) for c in range(chunks) for one in root for other in root]
    paced = up[chunk >= AT_ONCE]
    slots = np.stack((paced - AT_ONCE * links, paced), axis=1)
    rising, falling = np.stack((inner, above), axis=1), np.stack((above, inner), axis=1) + count
    return Exchange(
        np.concatenate((child, parent)),
        np.concatenate((parent, child)),
        np.tile(parts(size, chunks)[chunk], 2),
        np.concatenate((rising, np.array(turning), falling, slots, slots + count)),
    )


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
