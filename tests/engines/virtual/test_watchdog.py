"""The watchdog of pauses: when it acts, what becomes of the queue, and when all is as before."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.errors import BadInput
from testbed.fidelity.verdict import judge
from testbed.results.record import RunRecord
from tests.support.ring_rack import ALLOWED, ring
from tests.support.simulated import simulated

DETECTION, RESTORATION = 100e-6, 50e-6
LOSSLESS = "groups: {0: {pfc: on, xoff: 50 kB}}"


def run(action: str) -> RunRecord:
    settings = f"watchdog: {{action: {action}, detection: 100 us, restoration: 50 us}}"
    record = simulated(ring(LOSSLESS, ALLOWED, settings))
    assert (record.deadlock, judge(record).word) == ("", "clean")
    return record


def storms(record: RunRecord) -> dict[str, list[tuple[float, str]]]:
    """Of each queue: when the watchdog did what, drops or restores."""
    found: dict[str, list[tuple[float, str]]] = {}
    for event in record.events:
        _, verb, queue = event.what.split(" ", 2)
        found.setdefault(queue, []).append((event.time, verb))
    return found


def test_a_queue_that_is_held_too_long_loses_its_packets_until_no_pause_comes() -> None:
    record = run("drop")
    queues = record.queues
    assert queues
    assert storms(record)
    for name, done in storms(record).items():
        assert [verb for _, verb in done] == (["drops", "restores"] * len(done))[: len(done)]
        row = queues.name.index(name)
        time, sent, queue = queues.series.time, queues.series.tx_bytes[:, row], queues.series.queue[:, row]
        for (begin, _), (end, _) in zip(done[::2], done[1::2], strict=False):
            assert end - begin >= RESTORATION
            held = (time > begin - DETECTION + 10e-6) & (time <= begin)
            assert len(np.unique(sent[held])) == 1  # nothing left it for as long as that
            assert queue[held].min() > 0
            assert queue[(time > begin) & (time < end)].max() == 0
    lost = queues.series.dropped_packets[-1]
    assert {queues.name[row] for row in np.flatnonzero(lost)} == {*storms(record)}
    assert record.flows.delivered_packets.min() > 242  # more than all got that wait for ever


def test_or_it_sends_in_spite_of_pauses() -> None:
    record = run("forward")
    assert {done[0][1] for done in storms(record).values()} == {"forwards"}
    assert record.queues
    assert record.queues.series.dropped_packets[-1].sum() < 0.1 * record.flows.delivered_packets.sum()
    assert record.flows.delivered_packets.min() > 5 * 242


def test_it_leaves_pauses_alone_that_end_in_time() -> None:
    settings = "watchdog: {detection: 100 us}"
    record = simulated(ring(LOSSLESS, ALLOWED, settings, share=45))
    assert (record.events, judge(record).word) == ([], "clean")


def test_pauses_of_whole_ports_have_none() -> None:
    with pytest.raises(BadInput, match=r"rack\.switch\.watchdog: is of lossless groups"):
        simulated(ring("pfc: on", "watchdog: {detection: 100 us}"))
