"""When Python is back from a controller per flow is of the wall clock, and changes nothing."""

from __future__ import annotations

import pytest

from testbed.agent.flow_agent import FlowAgent
from testbed.engines.virtual.run import VirtualRun
from testbed.runs.overrides import resolve
from testbed.sdk.conformance.trial import Unwatched

SETTINGS = ["time.duration=0.3 ms", "time.warmup=0.1 ms", "record.decisions=100000", "engine=virtual"]
OFTEN, SELDOM = 0.37e-6, 1.0  # s


@pytest.mark.parametrize(
    ("experiment", "controller", "setting"),
    [
        ("incast-8", "vivace", "rack.link.loss=0.05"),  # it is told what was sent
        ("incast-8", "swift", "controller.decision_cost=200 ns"),
        ("leaf-spine", "hpcc", "routing=spray"),
    ],
)
def test_how_often_python_is_back_changes_nothing(
    experiment: str, controller: str, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FlowAgent, "_adapt_service", lambda *_: None)
    found = []
    for service in (OFTEN, SELDOM):
        run = VirtualRun(resolve(experiment, {"controller": controller}, {}, [*SETTINGS, setting]), [], Unwatched())
        assert isinstance(run.agent, FlowAgent)
        monkeypatch.setattr(run.agent, "_service", service)
        record = run.follow()
        found.append((record.decisions_file.tobytes(), record.port_series.queue.tobytes()))
    assert len(found[0][0]) > 1000
    assert found[0] == found[1]
