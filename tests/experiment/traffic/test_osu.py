"""OSU's all-to-all: exchanges that wait for each other."""

from __future__ import annotations

import pytest

from testbed.experiment.traffic.flow import NO_GROUP
from testbed.experiment.traffic.osu import OsuAllToAll
from tests.experiment.traffic.made import CONTEXT, made


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
    plan = made(pattern)
    assert plan.group.tolist().count(3) == 12
    assert plan.waits.tolist() == (plan.group > 0).tolist()
