"""Who sends to whom in the patterns that leave nothing to chance, or little."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import pytest

from testbed.experiment.traffic.all_to_all import AllToAll
from testbed.experiment.traffic.flow import NO_GROUP
from testbed.experiment.traffic.incast import PUBLISHED, Incast
from testbed.experiment.traffic.long_short import LongShort
from testbed.experiment.traffic.osu import OsuAllToAll
from testbed.experiment.traffic.pattern import Context, Pattern
from testbed.experiment.traffic.plan import Plan

CONTEXT = Context(hosts=16, line_rate=100e9, end=30e-3, seed=(1,))


def made(pattern: Pattern, context: Context = CONTEXT) -> Plan:
    flows = pattern.expand(context)
    assert len(flows) == pattern.flow_count(context)
    plan = Plan.of(flows)
    assert max(plan.src_number.max(), plan.dst_number.max()) == pattern.hosts_needed()
    return plan


@pytest.mark.parametrize("flows", PUBLISHED)
def test_published_map_multiplies_out(flows: int) -> None:
    hosts, each = PUBLISHED[flows]
    assert hosts * each == flows
    plan = made(Incast(pattern="incast", flows=flows))
    assert set(Counter(plan.src).values()) == {each}
    assert set(plan.dst) == {f"h{hosts + 1}"}


@pytest.mark.parametrize(("flows", "hosts", "most"), [(1, 1, 1), (3, 3, 1), (63, 63, 1), (100, 64, 2), (2000, 64, 32)])
def test_other_numbers_are_dealt_out(flows: int, hosts: int, most: int) -> None:
    per_host = Counter(made(Incast(pattern="incast", flows=flows)).src)
    assert len(per_host) == hosts
    assert set(per_host.values()) <= {most, most - 1}


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


def test_long_and_short_flows() -> None:
    pattern = LongShort(pattern="long-short", long=1, short=127, interruptions=["10 ms", "20 ms"], spread="1 ms")
    flows = pattern.expand(CONTEXT)
    long, short = flows[:1], flows[1:]
    assert [(flow.label, flow.size, flow.start) for flow in long] == [("long", math.inf, 0.0)]
    assert {flow.label for flow in short} == {"short"}
    assert {flow.size for flow in short} == {64e3}
    for flow in short[:127]:
        assert 10e-3 <= flow.start < 11e-3
    for flow in short[127:]:
        assert 20e-3 <= flow.start < 21e-3
    assert set(Counter(flow.src for flow in flows[:128]).values()) == {2}  # 64 x 2, as in many-to-one
    assert flows == pattern.expand(CONTEXT)
    assert flows != pattern.expand(Context(16, 100e9, 30e-3, seed=(2,)))


@pytest.mark.parametrize(("semantics", "message"), [("per-peer", 30e3), ("total", 10e3)])
def test_osu_exchanges_wait_for_each_other(semantics: str, message: float) -> None:
    pattern = OsuAllToAll.model_validate(
        {"pattern": "osu-all-to-all", "hosts": 4, "sizes": ["30 kB", "60 kB"], "iterations": 2, "semantics": semantics}
    )
    flows = pattern.expand(CONTEXT)
    groups = [flows[i : i + 12] for i in range(0, 48, 12)]
    assert [{flow.group for flow in group} for group in groups] == [{0}, {1}, {2}, {3}]
    assert [{flow.after for flow in group} for group in groups] == [{NO_GROUP}, {0}, {1}, {2}]
    assert [{flow.size for flow in group} for group in groups] == [{message}, {message}, {2 * message}, {2 * message}]
    assert {flow.label for flow in flows[:24]} == {"alltoall-30000"}
    assert made(pattern).group.tolist().count(3) == 12
