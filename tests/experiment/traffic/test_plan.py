"""Flows get their numbers by host."""

from __future__ import annotations

import math

from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.plan import Plan

FLOWS = [Flow("h10", "h1", 1e3, 0.0), Flow("h2", "h1", math.inf, 1e-3, "late"), Flow("h10", "h3", 5.0, 0.0, after=2)]


def test_hosts_come_by_number_and_flows_of_a_host_as_listed() -> None:
    plan = Plan.of(FLOWS)
    assert (plan.src, plan.dst) == (["h2", "h10", "h10"], ["h1", "h1", "h3"])
    assert (plan.src_number.tolist(), plan.dst_number.tolist()) == ([2, 10, 10], [1, 1, 3])
    assert plan.size.tolist() == [math.inf, 1e3, 5.0]
    assert plan.waits.tolist() == [False, False, True]
    assert plan.label == ["late", "", ""]


def test_the_busiest_receiver_has_the_most_flows() -> None:
    plan = Plan.of(FLOWS)
    assert plan.busiest_receiver == "h1"
    assert plan.pairs == {("h2", "h1"), ("h10", "h1"), ("h10", "h3")}
