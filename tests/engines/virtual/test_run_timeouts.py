"""Timeouts are noticed as if all checks were made, though Python is back for few of them."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.agent.agent import Agent
from testbed.agent.datapath import Datapath
from testbed.agent.flow_agent import FlowAgent
from testbed.base.arrays import Ints
from testbed.engines.virtual.run import VirtualRun
from testbed.results.record import RunRecord
from testbed.runs.overrides import resolve
from testbed.sdk.conformance.trial import Unwatched

SETTINGS = ["time.duration=2 ms", "time.warmup=50 us", "transport.timeout=80 us", "record.decisions=100000"]
LOSSY, RECOVERING = ["rack.link.loss=0.8"], ["rack.link.loss=0.5", "transport.recovery=selective-repeat"]


def followed(settings: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[RunRecord, int]:
    """A run, and how often it was looked who is silent."""
    looks, silent = [], Datapath.silent

    def counted(self: Datapath, now: float, timeout: float) -> Ints:
        looks.append(now)
        return silent(self, now, timeout)

    with monkeypatch.context() as patch:
        patch.setattr(Datapath, "silent", counted)
        run = VirtualRun(resolve("incast-4", {"controller": "hpcc"}, {}, [*SETTINGS, *settings]), [], Unwatched())
        return run.follow(), len(looks)


@pytest.mark.parametrize("settings", [LOSSY, RECOVERING], ids=["lost packets go on as others", "numbered"])
def test_checks_that_find_nobody_are_left_out_and_change_nothing(
    settings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few, few_looks = followed(settings, monkeypatch)
    monkeypatch.setattr(FlowAgent, "next_check_after", Agent.next_check_after)
    all_of_them, all_looks = followed(settings, monkeypatch)
    assert few.flows.timeouts.sum() > 0
    assert few.decisions_file.tobytes() == all_of_them.decisions_file.tobytes()
    assert np.array_equal(few.flows.timeouts, all_of_them.flows.timeouts)
    assert few_looks < all_looks


def test_where_all_are_heard_of_it_is_looked_once_in_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 80 us, in 2 ms; what came back last is less than an eighth of that old."""
    record, looks = followed([], monkeypatch)
    assert record.flows.timeouts.sum() == 0
    assert looks == 25
