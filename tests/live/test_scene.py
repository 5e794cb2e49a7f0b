"""Flows in groups of what is shown."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from testbed.live.scene import Groups
from tests.live.made import plan, scene


def test_columns_of_many_flows_are_summed_per_sending_host() -> None:
    groups = Groups(plan(2, 200), ["swift"] * 400)
    column = np.arange(400)
    assert groups.sum(column).tolist() == [sum(range(200)), sum(range(200, 400))]
    assert groups.sum(np.ones((400, 3), np.int64)).tolist() == [[200] * 3] * 2
    known = np.where(np.arange(400) < 200, 5.0, np.nan)
    assert _plain(groups.mean(known)) == [5.0, None]


def test_columns_are_summed_per_controller_in_the_order_of_their_first_flows() -> None:
    parts = Groups(plan(2, 200), ["swift", "dcqcn", "swift", "hpcc"] * 100).controllers
    column = np.arange(400)
    assert parts.names == ("swift", "dcqcn", "hpcc")
    assert parts.sum(column).tolist() == [column[::2].sum(), column[1::4].sum(), column[3::4].sum()]
    assert parts.sum(np.ones((400, 3), np.int64)).tolist() == [[200] * 3, [100] * 3, [100] * 3]


def test_the_page_gets_a_drawing_with_a_part_per_port_and_direction() -> None:
    told = scene().as_dict()
    for port in told["ports"]:
        for way in ("sent", "received"):
            assert f'data-port="{port["name"]}" data-way="{way}"' in told["topology"]
    assert "bottleneck s1-eth3 to h3<" in told["topology"]  # how busy it is shows later
    assert "style=" not in told["topology"]  # the page's policy forbids it


def _plain(values: Iterable[float]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
