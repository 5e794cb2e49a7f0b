"""Permutations: everybody sends once and receives once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from testbed.experiment.traffic.permutation import Permutation
from tests.experiment.traffic.made import CONTEXT, made


@pytest.mark.parametrize("hosts", [2, 3, 8, 64])
@pytest.mark.parametrize("stride", [None, 1])
def test_everybody_sends_once_and_receives_once(hosts: int, stride: int | None) -> None:
    plan = made(Permutation(pattern="permutation", hosts=hosts, stride=stride, size="1 MB"))
    everybody = sorted(f"h{number}" for number in range(1, hosts + 1))
    assert sorted(plan.src) == sorted(plan.dst) == everybody
    assert all(src != dst for src, dst in zip(plan.src, plan.dst, strict=True))
    assert set(plan.size) == {1e6}


def test_a_stride_is_the_way_from_sender_to_receiver() -> None:
    plan = made(Permutation(pattern="permutation", hosts=4, stride=3))
    assert list(zip(plan.src, plan.dst, strict=True)) == [("h1", "h4"), ("h2", "h1"), ("h3", "h2"), ("h4", "h3")]


def test_the_seed_decides_who_sends_to_whom() -> None:
    pattern = Permutation(pattern="permutation", hosts=16)
    pairs = [[(flow.src, flow.dst) for flow in pattern.expand(replace(CONTEXT, seed=(seed,)))] for seed in (1, 1, 2)]
    assert pairs[0] == pairs[1] != pairs[2]
