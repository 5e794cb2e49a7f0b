from __future__ import annotations

import json

import pytest

from testbed.live.updates import update
from tests.live.made import plan, scene, snapshot


def test_figures_of_an_interval() -> None:
    """In 1 ms, 8 Gbit/s carry 1 MB; 500 and 100 packets of 1000 bytes are 60 %."""
    made = scene()
    before, now = snapshot(1e-3, made, acked=(100, 100)), snapshot(2e-3, made, acked=(600, 200))
    told = update(made, before, now)
    assert told["time"] == 2e-3
    assert told["ports"]["utilisation"] == [0.0, 0.0, 0.6]
    assert told["ports"]["marked"] == [0.0, 0.0, 0.1]
    assert told["ports"]["queue"][-1] == 2000
    assert told["ports"]["queue_max"][-1] == 9000
    assert told["ports"]["drops"][-1] == 3
    assert told["queues"] == {
        "utilisation": [0.594, 0.006], "queue": [1900, 100], "queue_max": [9000, 100], "marked": [0.10101, 0.0],
        "drops": [2, 1], "kmin": [5e3, None], "kmax": [200e3, None], "pmax": [0.01, None], "held": [5e-4, 0.0],
    }  # fmt: skip
    assert told["flows"]["goodput"] == [4e9, 0.8e9]
    assert told["controllers"] == {
        "goodput": [4e9, 0.8e9], "share": [0.83333, 0.16667], "rtt": [10e-6, 10e-6], "marked": [0.1, 0.1]
    }  # fmt: skip
    assert told["jobs"] == {"iterations": [3], "last": [2e-3], "straggler": [1.25], "bus_bandwidth": [64e9]}
    assert told["jain"] == pytest.approx(4.8**2 / (2 * (16 + 0.64)), rel=1e-4)
    assert told["rtt"]["p50"] == pytest.approx(10e-6, rel=0.05)
    assert told["verdict"] == "degraded"
    assert told["distortion"] == {"pacing lag": 0.4, "feedback lag": 1.5}


def test_no_link_carries_more_than_its_rate() -> None:
    """A sample that is a moment late sees packets of the next interval."""
    made = scene()
    told = update(made, snapshot(1e-3, made, acked=(100, 100)), snapshot(2e-3, made, acked=(1000, 203)))
    assert told["ports"]["utilisation"] == [0.0, 0.0, 1.0]


def test_what_is_not_known_is_null_and_not_a_number() -> None:
    made = scene()
    told = update(made, snapshot(1e-3, made, acked=(5, 5)), snapshot(2e-3, made, acked=(5, 5)))
    assert told["rtt"] == {"p50": None, "p99": None}
    assert told["jain"] is None
    assert told["controllers"]["share"] == told["controllers"]["rtt"] == [None, None]
    assert told["flows"]["rate"] == [4e9, None]
    assert told["flows"]["window"] == [None, None]
    json.dumps(told, allow_nan=False)


def test_flows_that_have_not_started_are_not_unfair() -> None:
    made = scene()
    now = snapshot(2e-3, made, acked=(600, 0))
    now.flows["sent"][1] = 0
    assert update(made, snapshot(1e-3, made, acked=(100, 0)), now)["jain"] == 1.0


@pytest.mark.parametrize(("flows_per_sender", "by", "entries"), [(128, "flow", 256), (129, "host", 2)])
def test_many_flows_are_shown_per_sending_host(flows_per_sender: int, by: str, entries: int) -> None:
    made = scene(plan(2, flows_per_sender))
    assert made.flows_by == by
    assert len(made.flows) == entries
    if by == "host":
        assert [tuple(flow) for flow in made.flows] == [("h1", "h1", "*"), ("h2", "h2", "*")]
