"""All-to-all: every pair, and staggered round by round."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest

from testbed.experiment.traffic.all_to_all import AllToAll
from tests.experiment.traffic.made import CONTEXT, made


@pytest.mark.parametrize("hosts", [2, 4, 8, 16])
def test_all_to_all_has_every_pair(hosts: int) -> None:
    pattern = AllToAll(pattern="all-to-all", hosts=hosts, flows_per_pair=3)
    plan = made(pattern)
    pairs = Counter(zip(plan.src, plan.dst, strict=True))
    assert pairs == {(f"h{a + 1}", f"h{b + 1}"): 3 for a, b in permutations(range(hosts), 2)}
    assert set(plan.start) == {0.0}


def test_staggered_all_to_all_goes_round_by_round() -> None:
    flows = AllToAll(pattern="all-to-all", hosts=4, stagger="1 us").expand(CONTEXT)
    assert [flow.start for flow in flows] == pytest.approx([i * 1e-6 for i in range(12)])
    for begin in range(0, 12, 4):
        a_round = flows[begin : begin + 4]
        assert len({flow.src for flow in a_round}) == len({flow.dst for flow in a_round}) == 4
