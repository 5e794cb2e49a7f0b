"""Collective operations over trees, pipelined in chunks: up with sums, down with results.

Sanders, Speck, Träff: "Two-Tree Algorithms for Full Bandwidth Broadcast, Reduction and Scan" (Parallel Computing 2009)
has the pair of trees, in one of which at least every rank is a leaf; NCCL calls it a double binary tree.
"""

from __future__ import annotations

import math

import numpy as np

from testbed.base.arrays import Ints
from testbed.experiment.traffic.jobs.collectives import parts, together
from testbed.experiment.traffic.jobs.program import Exchange

AT_ONCE = 128e3  # bytes of chunks on one edge of a tree, two at least: the line is busy while they are acknowledged


def heap(ranks: int) -> Ints:
    """The parent of each rank, -1 of the root: rank r has the children 2 r + 1 and 2 r + 2."""
    return np.asarray((np.arange(ranks) - 1) // 2)


def chain(ranks: int) -> Ints:
    """Each rank hangs at the one before."""
    return np.arange(ranks) - 1


def in_order(ranks: int) -> Ints:
    """A tree whose leaves are the ranks with odd numbers, of a height of log2 N; 0 is the root, with one child.

    A rank's height is that of the lowest power of two in its number; its parent's is one more, where there is such one.
    """
    rank = np.arange(ranks)
    low = rank & -rank
    above = (rank ^ low) | low << 1
    parent = np.where(above < ranks, above, rank ^ low)
    parent[0] = -1
    return parent


def up(parent: Ints, size: float, chunks: int) -> Exchange:
    """A reduce: a rank passes on a chunk when it has that of all its children."""
    chunk, child, place = _messages(parent, chunks)
    inner = np.flatnonzero(parent[parent[child]] >= 0)
    above = chunk[inner] * (len(parent) - 1) + place[parent[child[inner]]]
    waits = np.concatenate((np.stack((inner, above), axis=1), _paced(len(parent) - 1, size, chunks)))
    return Exchange(child, parent[child], parts(size, chunks)[chunk], waits)


def down(parent: Ints, size: float, chunks: int) -> Exchange:
    """A broadcast: a rank passes on a chunk when it has that of its parent."""
    rising = up(parent, size, chunks)
    slots = len(_paced(len(parent) - 1, size, chunks))
    falling = rising.waits[: len(rising.waits) - slots, ::-1]
    waits = np.concatenate((falling, rising.waits[len(falling) :]))
    return Exchange(rising.dst, rising.src, rising.size, waits)


def both(parent: Ints, size: float, chunks: int) -> Exchange:
    """An allreduce: the root sends a chunk down when it has that of all its children."""
    rising, falling = up(parent, size, chunks), down(parent, size, chunks)
    made = together([rising, falling])
    at_root = np.flatnonzero(parent[rising.dst] < 0).reshape(chunks, -1)
    turning = [(one, other + len(rising.src)) for of_chunk in at_root for one in of_chunk for other in of_chunk]
    return Exchange(made.src, made.dst, made.size, np.concatenate((made.waits, np.array(turning))))


def mirrored(made: Exchange, ranks: int) -> Exchange:
    """The same among other ranks, so that who was a leaf is none: backwards, or by one further where N is odd."""
    other = (np.arange(ranks) + 1) % ranks if ranks % 2 else np.arange(ranks)[::-1]
    return Exchange(other[made.src], other[made.dst], made.size, made.waits)


def two(ranks: int, size: float, chunks: int) -> Exchange:
    """An allreduce of half of the buffer over each of two trees."""
    one = both(in_order(ranks), size / 2, chunks)
    return together([one, mirrored(one, ranks)])


def _messages(parent: Ints, chunks: int) -> tuple[Ints, Ints, Ints]:
    """Chunk and child of each message over an edge, chunk by chunk; and the place of each rank among the children."""
    children = np.flatnonzero(parent >= 0)
    chunk, place = np.divmod(np.arange(chunks * len(children)), len(children))
    number = np.zeros(len(parent), np.int64)
    number[children] = np.arange(len(children))
    return chunk, children[place], number


def _paced(links: int, size: float, chunks: int) -> Ints:
    at_once = min(max(2, math.ceil(AT_ONCE * chunks / size)), chunks)
    later = np.arange(at_once * links, chunks * links)
    return np.stack((later - at_once * links, later), axis=1)
