"""What queues and groups may have of a switch's memory, complete."""

from __future__ import annotations

import math
from typing import Any

import pytest

from testbed.experiment.topology.any_rack import Switch
from testbed.experiment.topology.pool import ALPHA, XOFF, XON_OFFSET, Memory, Share

CLASSES = {"rdma": {"dscp": 3, "queue": 3}, "bulk": {"dscp": 0, "queue": 0}}


def memory(**switch: Any) -> Memory:
    found = Switch.model_validate({"classes": CLASSES, **switch}).memory
    assert found
    return found


def test_without_pool_and_groups_each_queue_has_its_buffer() -> None:
    assert Switch.model_validate({"classes": CLASSES}).memory is None


def test_a_pool_alone_makes_one_queue_that_shares_it() -> None:
    found = Switch.model_validate({"pool": {"size": "4 MB"}}).memory
    assert found
    assert (found.size, found.queues, found.lossless) == (4e6, {0: Share(0.0, ALPHA, None)}, [])


def test_what_is_lossless_is_bounded_where_it_comes_in() -> None:
    found = memory(pool={"size": "4 MB"}, groups={"3": {"pfc": "on", "alpha": 0.125, "xon": "18 kB"}})
    assert found.lossless == [3]
    assert found.queues == {0: Share(0.0, ALPHA, None), 3: Share(0.0, None, None)}
    group = found.groups[3]
    assert (group.share, group.headroom, group.xon, group.xon_offset) == (Share(0.0, 0.125, None), None, 18e3, math.inf)
    assert found.groups[0].share == Share(0.0, None, None)


def test_thresholds_of_lossless_groups_that_nobody_says() -> None:
    shared, alone = (memory(groups={"3": {"pfc": "on"}}, **pool).groups[3] for pool in ({"pool": {"size": "4 MB"}}, {}))
    assert (shared.share.alpha, shared.xon, shared.xon_offset) == (ALPHA, 0.0, XON_OFFSET)
    assert (alone.share.static, alone.xon_offset) == (XOFF, pytest.approx(0.1 * XOFF))


def test_headroom_is_shared_where_the_pool_says_how_much() -> None:
    assert memory(pool={"size": "4 MB", "headroom": "1 MB"}).headroom == 1e6
    assert memory(pool={"size": "4 MB"}).headroom is None


@pytest.mark.parametrize(
    ("switch", "expected"),
    [
        ({"pool": {"size": "4 MB"}, "groups": {"3": {"pfc": "on", "alpha": 0.5}}}, 4e6 * 1.5 / 2.5 + 3 * 50e3),
        ({"pool": {"size": "4 MB", "headroom": "60 kB"}, "groups": {"3": {"pfc": "on", "alpha": 0.5}}}, 2.4e6 + 60e3),
        ({"groups": {"3": {"pfc": "on", "xoff": "100 kB", "headroom": "20 kB"}}}, 3 * 120e3),
        ({"pool": {"size": "4 MB"}, "groups": {"3": {"pfc": "on"}}, "queues": {"3": {"static": "300 kB"}}}, 300e3),
    ],
)
def test_a_lossless_queue_holds_what_three_ingresses_have(switch: dict[str, Any], expected: float) -> None:
    """Who does not stop when paused fills the headroom as well; of 50 kB, where nothing is said."""
    assert memory(**switch).alone(3, 3, 3, buffer=1e6, headroom=50_000) == pytest.approx(expected)


def test_the_longest_queue_is_all_that_ingresses_have() -> None:
    found = memory(groups={"3": {"pfc": "on", "xoff": "100 kB"}})
    assert found.longest(buffer=1e6, ports=2, headroom=50_000) == 1e6
    assert found.longest(buffer=1e5, ports=2, headroom=50_000) == 2 * (100e3 + 50e3)
    pooled = memory(pool={"size": "4 MB"}, groups={"3": {"pfc": "on", "reserved": "1 kB"}})
    assert pooled.longest(buffer=1e6, ports=2, headroom=50_000) == 4e6 + 2 * (50e3 + 1e3)
