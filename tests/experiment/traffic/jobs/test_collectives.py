"""Collective operations move what they must: each message carries what its sender has when it may leave."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.experiment.traffic.jobs import collectives, trees
from testbed.experiment.traffic.jobs.program import Exchange
from testbed.experiment.traffic.tasks import circle_of
from tests.support.exchanges import sent, whole


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


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_direct_sends_as_little_in_two_steps(ranks: int) -> None:
    made = collectives.direct(ranks, 24_000.0, 2)
    assert len(made.src) == 2 * ranks * (ranks - 1)
    assert sent(made, ranks) == [2 * (ranks - 1) / ranks * 24_000.0] * ranks
    assert whole(made, ranks) == [(ranks - 1) / ranks * 24_000.0] * ranks


@pytest.mark.parametrize(("ranks", "group"), [(8, 4), (8, 2), (12, 3), (6, 6)])
def test_a_hierarchy_sends_little_between_groups(ranks: int, group: int) -> None:
    """As much as all rings do in all, but between groups only what a rank has summed up in its own."""
    size = 24_000.0
    made = collectives.hierarchical(ranks, size, group)
    groups = ranks // group
    assert sent(made, ranks) == pytest.approx([2 * (ranks - 1) / ranks * size] * ranks)
    far = made.src // group != made.dst // group
    if groups > 1:
        assert made.size[far].sum() == pytest.approx(ranks * 2 * (groups - 1) / groups * size / group)
        assert whole(made, ranks) == pytest.approx([size - size / group / groups] * ranks)


def test_all_at_once_is_each_with_its_own_waits() -> None:
    made = collectives.together([collectives.ring(3, 9.0, 1), collectives.ring(3, 9.0, 2)])
    assert made.waits.max() == len(made.src) - 1
    assert circle_of(len(made.src), made.waits) == []


@pytest.mark.parametrize(
    "made",
    [
        collectives.direct(5, 1e4, 2),
        collectives.hierarchical(8, 1e4, 2),
        trees.two(9, 1e4, 4),
        collectives.ring(5, 1e4, 2),
        trees.both(trees.heap(7), 1e4, 5),
        collectives.pairwise(8, collectives.halving(8, 1e4)),
    ],
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
