"""Snapshots of a modelled run against its record."""

from __future__ import annotations

import numpy as np

from testbed.live.observers import Observer
from testbed.live.snapshot import Snapshot
from testbed.live.updates import Update
from tests.support.modelled import modelled


class Kept(Observer):
    def __init__(self) -> None:
        self.snapshots: list[Snapshot] = []

    def on_progress(self, now: Snapshot, changes: Update) -> None:  # noqa: ARG002
        self.snapshots.append(now)


def test_a_flow_is_active_from_its_start_to_its_end() -> None:
    kept = Kept()
    flows = modelled("websearch", ["time.duration=4 ms", "time.warmup=1 ms"], controller="dcqcn", observer=kept).flows
    counts = []
    for now in kept.snapshots:
        expected = (flows.start <= now.time) & ~(flows.finished <= now.time)
        assert now.flows["active"].sum() == expected.sum()
        counts.append(int(expected.sum()))
    assert 0 < min(counts) < max(counts) < len(flows)
    assert np.isfinite(flows.finished).any()
