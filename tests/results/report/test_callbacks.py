"""Calls of a controller about one flow, from the records of several agents."""

from __future__ import annotations

from testbed.results.report.callbacks import calls_of
from tests.support.synthetic_decisions import BEGIN, recorded, row


def test_flows_of_several_agents_are_found() -> None:
    agents = [recorded([row(0, 0, 1, BEGIN)]), recorded([row(0, 1, 2, BEGIN)], first=1, flows=2)]
    for flow, rate in ((0, [1e9]), (1, []), (2, [2e9])):
        calls = calls_of(agents, flow)
        assert calls is not None
        assert calls["rate"].tolist() == rate
    assert calls_of(agents, 3) is None
