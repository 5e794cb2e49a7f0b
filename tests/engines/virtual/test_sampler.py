"""Samples that C has taken are those that Python takes at the same tick."""

from __future__ import annotations

from itertools import cycle
from multiprocessing import Pipe
from threading import Thread
from typing import Any

import numpy as np
import pytest

from testbed.engines.virtual import sampler
from testbed.engines.virtual.run import VirtualRun
from testbed.engines.virtual.sampler import Sampler
from testbed.live.recorder import Recorder
from testbed.live.snapshots import Live
from testbed.runs.overrides import from_user, overridden

SHORT = ["time.duration=400 us", "time.warmup=100 us", "record.decisions=0"]


def following(run: VirtualRun, ours: Any) -> Any:
    """The record of a run whose messages nobody reads."""

    def read() -> None:
        while ours.recv()[0] != "done":
            pass

    Thread(target=read, daemon=True).start()
    try:
        return run.follow()
    finally:
        run.connection.send(("done", None))


@pytest.mark.parametrize(
    ("experiment", "settings"),
    [("incast-8", []), ("leaf-spine", []), ("incast-64-lossless", ["traffic.senders=16"])],
)
def test_both_ways_take_the_same_samples(experiment: str, settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    resolved = overridden(from_user(experiment), {"controller": "hpcc", "tuner": ""}, {}, SHORT + settings)
    ours, theirs = Pipe()
    run = VirtualRun(resolved, [], theirs)
    beside = Recorder(run.flows, run.recorder.chosen, run.world.ports, run.recorder.wire_size)
    take = Sampler.take

    def both(own: Sampler) -> None:
        before, at = own.c.taken, run.world.c.next_sample
        take(own)
        if own.c.taken != before and at == run.world.c.now:
            beside.sample(run.world.c.now, run.clock.now())

    monkeypatch.setattr(Sampler, "take", both)
    monkeypatch.setattr(sampler, "LOOKED_AT", 1)  # Python is woken at every sample
    record = following(run, ours)
    assert len(beside.time) > 30
    position = {time: number for number, time in enumerate(record.port_series.time.tolist())}
    rows = [position[time] for time in beside.time]
    for own, other in ((record.port_series, beside.port_series()), (record.flow_series, beside.flow_series())):
        for name, column in vars(other).items():
            np.testing.assert_array_equal(getattr(own, name)[rows], column, err_msg=name)


def test_samples_are_at_their_ticks_and_one_ends_the_run() -> None:
    resolved = overridden(
        from_user("incast-2"), {"controller": "hpcc", "tuner": ""}, {}, [*SHORT, "record.interval=7 us"]
    )
    ours, theirs = Pipe()
    record = following(VirtualRun(resolved, [], theirs), ours)
    assert np.allclose(record.port_series.time, [*np.arange(58) * 7e-6, 400e-6], rtol=0, atol=2e-12)


def test_whoever_watches_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots come by the wall clock; decisions about sent packets must not come with them."""
    resolved = overridden(
        from_user("incast-8"), {"controller": "dcqcn", "tuner": ""}, {}, ["time.duration=4 ms", "time.warmup=1 ms"]
    )
    files = []
    for moments in (cycle([1.0]), cycle([1.0, 1.0, -1.0])):
        monkeypatch.setattr(Live, "seconds_left", lambda _, moments=moments: next(moments))
        ours, theirs = Pipe()
        files.append(following(VirtualRun(resolved, [], theirs), ours).decisions_file)
    assert files[0].tobytes() == files[1].tobytes()
