"""Snapshots of runs against their records."""

from __future__ import annotations

from multiprocessing.sharedctypes import RawValue
from unittest.mock import Mock

import numpy as np
import pytest

from testbed.engines.fluid import run
from testbed.live import snapshots
from testbed.live.observers import Observer
from testbed.live.snapshot import Snapshot
from testbed.live.snapshots import Live
from testbed.live.updates import Update
from testbed.results.figures.jobs import of_jobs
from tests.support.modelled import modelled
from tests.support.simulated import simulated

HALVES = """\
controller: dctcp
controllers: [{name: nscc, of: {hosts: [h2, h4]}}]
traffic: {pattern: incast, senders: 4}
time: {duration: 1 ms, warmup: 0 s}
"""


RING = """\
controller: fixed
traffic: {pattern: allreduce, ranks: 4, size: 400 kB, iterations: 3}
time: {duration: 1 ms, warmup: 0 s}
"""


class Kept(Observer):
    def __init__(self) -> None:
        self.snapshots: list[Snapshot] = []
        self.updates: list[Update] = []

    def on_progress(self, now: Snapshot, changes: Update) -> None:
        self.snapshots.append(now)
        self.updates.append(changes)


def test_a_flow_is_active_from_its_start_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SHOWN_SECONDS", 0.0)  # or it is over after two
    kept = Kept()
    flows = modelled("websearch", ["time.duration=4 ms", "time.warmup=1 ms"], controller="dcqcn", observer=kept).flows
    counts = []
    for now in kept.snapshots:
        expected = (flows.start <= now.time) & ~(flows.finished <= now.time)
        assert now.flows["active"].sum() == expected.sum()
        counts.append(int(expected.sum()))
    assert min(counts) < max(counts) < len(flows)
    assert np.isfinite(flows.finished).any()


@pytest.mark.parametrize(("took", "left"), [(1e-3, 0.199), (0.05, 0.95)])
def test_looks_take_a_twentieth_of_the_time_at_most(monkeypatch: pytest.MonkeyPatch, took: float, left: float) -> None:
    """Of 100,000 flows one takes so long that at five per second a run would not get on."""
    clock = [1_000_000_000]

    def slow(_: Live) -> None:
        clock[0] += round(took * 1e9)

    monkeypatch.setattr(snapshots.time, "monotonic_ns", lambda: clock[0])
    monkeypatch.setattr(Live, "_snapshot", slow)
    live = Live.__new__(Live)
    live.connection, live._next_ns = Mock(), 0
    live.show()
    assert live.seconds_left() == pytest.approx(left)


def test_five_times_a_second_of_wall_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on 10 ms whenever it is read; a real one would tell of a busy machine instead."""
    clock = Ticking()
    monkeypatch.setattr(snapshots, "time", clock)
    kept = Kept()
    simulated(HALVES, ["time.duration=10 ms"], observer=kept)
    assert clock.seconds > 2
    assert 4 <= len(kept.snapshots) / clock.seconds <= 5.5


class Ticking:
    """Instead of module `time`; the run goes on in a process of its own."""

    def __init__(self) -> None:
        self._ns = RawValue("q", 0)

    @property
    def seconds(self) -> float:
        return float(self._ns.value / 1e9)

    def monotonic_ns(self) -> int:
        self._ns.value += 10_000_000
        return int(self._ns.value)


def test_what_each_controller_gets_is_told_while_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flows 1 and 3 are DCTCP's, 2 and 4 NSCC's. The last snapshot is of the end."""
    monkeypatch.setattr(snapshots, "WALL_NS_BETWEEN", 0)
    monkeypatch.setattr(Live, "most", np.inf)
    kept = Kept()
    flows = simulated(HALVES, observer=kept).flows
    assert flows.controller == ["dctcp", "nscc"] * 2
    for now in kept.snapshots:
        for name, told in now.controllers.items():
            column = now.flows[name]
            assert told.tolist() == [column[::2].sum(), column[1::2].sum()]
        assert now.controller_rtt.counts.sum(axis=1).tolist() == now.controllers["acked"].tolist()
    last, before = kept.snapshots[-1].controllers, kept.snapshots[0].controllers
    packets = flows.acked_packets
    acked = packets * 1000  # of payload
    assert last["acked_payload"] == pytest.approx([acked[::2].sum(), acked[1::2].sum()], rel=0.05)
    grown = last["acked_payload"] - before["acked_payload"]
    told = kept.updates[-1]["controllers"]
    assert sum(told["share"]) == pytest.approx(1.0, abs=1e-4)
    assert last["acked"].sum() == packets.sum()
    assert grown.min() > 0


def test_a_job_tells_what_it_has_done_as_its_figures_will(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of the run the figures of the run; before that, iterations that only grow."""
    monkeypatch.setattr(snapshots, "WALL_NS_BETWEEN", 0)
    monkeypatch.setattr(Live, "most", np.inf)
    kept = Kept()
    record = simulated(RING, observer=kept)
    (job,) = of_jobs(record.steps, record.jobs)
    told = [now.jobs[0] for now in kept.snapshots]
    iterations = [one.iterations for one in told]
    assert iterations == sorted(iterations)
    assert set(iterations) == {0, 1, 2, 3}
    assert np.isnan(next(one.last for one in told if not one.iterations))
    assert told[-1].iterations == job.iterations
    assert told[-1].bus_bandwidth == pytest.approx(job.bus_bandwidth)
    assert told[-1].straggler == pytest.approx(job.straggler)
    lasts = [next(one.last for one in told if one.iterations == done) for done in (1, 2, 3)]
    assert np.mean(lasts) == pytest.approx(job.iteration)
