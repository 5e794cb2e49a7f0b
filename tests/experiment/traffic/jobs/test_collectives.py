"""Collective operations move what they must: each message carries what its sender has when it may leave."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.experiment.traffic.jobs import collectives
from testbed.experiment.traffic.jobs.program import Exchange
from testbed.experiment.traffic.tasks import circle_of


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


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_a_ring_sums_up_and_passes_round(ranks: int) -> None:
    size = 24_000.0
    made = collectives.ring(ranks, size, 2)
    share = size / ranks
    assert sent(made, ranks) == [2 * (ranks - 1) * share] * ranks  # the least that is possible
    # the last step of the first round completes one part at each rank, the second round brings the others
    assert whole(made, ranks) == [(ranks - 1) * share] * ranks
    assert (made.dst == (made.src + 1) % ranks).all()


@pytest.mark.parametrize("ranks", [2, 8])
def test_halving_and_doubling_send_as_little_in_fewer_steps(ranks: int) -> None:
    halves = collectives.halving(ranks, 8000.0)
    made = collectives.pairwise(ranks, [*halves, *reversed(halves)])
    assert len(made.src) == 2 * ranks * math.log2(ranks)
    assert sent(made, ranks) == [2 * (ranks - 1) / ranks * 8000.0] * ranks
    assert whole(made, ranks) == [8000.0 * (ranks - 1) / ranks] * ranks


@pytest.mark.parametrize("ranks", [2, 3, 6, 8])
def test_a_tree_sums_up_every_chunk_at_its_root(ranks: int) -> None:
    made = collectives.tree(ranks, 10_001.0, 4)
    assert whole(made, ranks)[1:] == [10_001.0] * (ranks - 1)  # the root has it already
    assert sorted(set(zip(made.src.tolist(), made.dst.tolist(), strict=True))) == sorted(
        pair for child in range(1, ranks) for pair in ((child, (child - 1) // 2), ((child - 1) // 2, child))
    )


@pytest.mark.parametrize(
    "made",
    [collectives.ring(5, 1e4, 2), collectives.tree(7, 1e4, 5), collectives.pairwise(8, collectives.halving(8, 1e4))],
)
def test_no_message_waits_for_itself(made: Exchange) -> None:
    assert circle_of(len(made.src), made.waits) == []


def test_parts_are_whole_bytes_and_make_the_buffer() -> None:
    made = collectives.parts(10.0, 4)
    assert made.tolist() == [2, 3, 2, 3]


def test_the_most_popular_rank_gets_what_zipf_gives_it() -> None:
    shares = np.sort(collectives.popularity(4, 1.0, np.random.default_rng(1)))[::-1]
    assert shares == pytest.approx(np.array([1, 1 / 2, 1 / 3, 1 / 4]) / (25 / 12))
    made = collectives.everybody(np.broadcast_to(1000 * shares, (4, 4)))
    assert [made.size[made.dst == rank].tolist() for rank in range(4)] == [[480] * 3, [240] * 3, [160] * 3, [120] * 3]
