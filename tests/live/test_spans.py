"""The timeline of jobs while they run, beside what the run's record says when it is over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testbed.experiment.traffic.tasks import Kind
from testbed.live import snapshots, spans
from testbed.live.observers import Observer
from testbed.live.scene import Scene
from testbed.live.snapshot import Snapshot
from testbed.live.spans import Does, rows_of
from testbed.live.updates import Update
from tests.support.simulated import simulated

TWO = """\
controller: fixed
traffic:
  pattern: mix
  parts:
    - pattern: training
      name: train
      ranks: 3
      size: 90 kB
      buckets: 2
      forward: 20 us
      backward: 40 us
      iterations: 2
    - {pattern: allreduce, name: ring, ranks: 2, size: 100 kB, iterations: 2}
time: {duration: 1 ms, warmup: 0 s}
"""


class Kept(Observer):
    def __init__(self) -> None:
        self.scenes: list[Scene] = []
        self.looks: list[list[list[Any]]] = []

    def on_begin(self, scene: Scene) -> None:
        self.scenes.append(scene)

    def on_progress(self, _now: Snapshot, changes: Update) -> None:
        self.looks.append(changes["spans"])


def test_every_span_is_told_once_and_as_the_record_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many looks it takes: here at most seven spans of a kind at once."""
    monkeypatch.setattr(snapshots, "WALL_NS_BETWEEN", 0)
    monkeypatch.setattr(snapshots.Live, "most", np.inf)
    monkeypatch.setattr(spans, "MOST_SPANS", 7)
    kept = Kept()
    run = simulated(TWO, observer=kept)
    assert kept.scenes[0].ranks == ("train h1", "train h2", "train h3", "ring h1", "ring h2")
    told = [span for look in kept.looks for span in look]
    assert max(len(look) for look in kept.looks) <= 14
    rows = rows_of(run.jobs)
    steps, flows = run.steps, run.flows
    expected = []
    for number in range(len(steps.kind)):
        if steps.job[number] >= 0 and np.isfinite(steps.begin[number]):
            job = run.jobs[steps.job[number]]
            row, begin = rows[job.name, job.hosts[steps.rank[number]]], steps.begin[number]
            if steps.kind[number] == Kind.DONE:
                expected.append((row, Does.DONE, begin, begin))
            elif steps.length[number] > 0:
                expected.append((row, Does.COMPUTES, begin, begin + steps.length[number]))
    for label, src, begin, end in zip(flows.label, flows.src, flows.start, flows.finished, strict=True):
        if (label, src) in rows and np.isfinite(end):
            expected.append((rows[label, src], Does.SENDS, begin, end))
    kinds = {does for _, does, _, _ in expected}
    assert kinds == set(Does)
    assert sum(does == Does.DONE for _, does, _, _ in expected) == 2 * (3 + 2)
    for mine, theirs in zip(sorted(told), sorted(expected), strict=True):
        assert mine == pytest.approx(theirs, rel=1e-4, abs=1e-9)


def test_who_sends_to_whom_is_drawn_once_and_without_styles() -> None:
    kept = Kept()
    simulated(TWO, observer=kept)
    assert "h1 to h2: " in kept.scenes[0].sends
    assert "style=" not in kept.scenes[0].sends


def test_more_ranks_than_a_picture_has_rows_are_not_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "MOST_RANKS", 4)
    monkeypatch.setattr(snapshots, "WALL_NS_BETWEEN", 0)
    kept = Kept()
    simulated(TWO, observer=kept)
    assert kept.scenes[0].ranks == ()
    assert not any(kept.looks)
