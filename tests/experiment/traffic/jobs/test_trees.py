"""Trees: who hangs at whom, and what goes up and down."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.experiment.traffic.jobs import trees
from testbed.experiment.traffic.tasks import circle_of
from tests.support.exchanges import carried, sent, whole


@pytest.mark.parametrize("ranks", [2, 3, 6, 8])
def test_a_tree_sums_up_every_chunk_at_its_root(ranks: int) -> None:
    made = trees.both(trees.heap(ranks), 10_001.0, 4)
    assert whole(made, ranks)[1:] == [10_001.0] * (ranks - 1)  # the root has it already
    assert sorted(set(zip(made.src.tolist(), made.dst.tolist(), strict=True))) == sorted(
        pair for child in range(1, ranks) for pair in ((child, (child - 1) // 2), ((child - 1) // 2, child))
    )


@pytest.mark.parametrize("ranks", range(2, 40))
def test_of_two_trees_each_rank_is_a_leaf_of_one(ranks: int) -> None:
    """But for the two roots; no rank has more than two children, and no way is longer than log2 N."""
    parent = trees.in_order(ranks)
    assert np.bincount(parent[1:]).max() <= 2
    for rank in range(ranks):
        steps, at = 0, rank
        while at:
            at, steps = int(parent[at]), steps + 1
        assert steps <= np.ceil(np.log2(ranks))
    one = trees.both(parent, 1.0, 1)
    inner = [set(made.src[ranks - 1 :].tolist()) for made in (one, trees.mirrored(one, ranks))]  # who sends down
    assert len(inner[0] & inner[1]) <= 2


@pytest.mark.parametrize("ranks", [2, 3, 8, 9])
def test_two_trees_sum_up_half_each_and_share_the_work(ranks: int) -> None:
    made = trees.two(ranks, 16_000.0, 4)
    assert sorted(whole(made, ranks))[2:] == [16_000.0] * (ranks - 2)  # each of the roots has half already
    assert max(sent(made, ranks)) <= 2 * 16_000.0  # one tree: an inner rank sends three times the buffer
    assert circle_of(len(made.src), made.waits) == []


def test_what_goes_up_is_the_sum_and_what_goes_down_is_whole() -> None:
    rising, falling = (made(trees.chain(4), 100.0, 2) for made in (trees.up, trees.down))
    assert [len(one) for one in carried(rising)] == [3, 2, 1] * 2
    assert rising.dst.tolist() == falling.src.tolist() == [0, 1, 2] * 2
    waits = sorted(map(tuple, falling.waits.tolist()))
    assert waits == [(0, 1), (1, 2), (3, 4), (4, 5)]
