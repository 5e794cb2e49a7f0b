"""How long flows give way to short ones, and recover: staircases worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from testbed.results.figures import Window, long_short, spans, throughput
from testbed.results.record import RunRecord
from tests.support.synthetic_runs import PAYLOAD, RTT, WIRE, B, run, without_series


def staircase() -> RunRecord:
    """A staircase: full rate, half of it from 4 ms (two short flows until 5 and 6 ms), 3/4 from 6 ms, full from 7 ms.

    The controller allows half at 4.05 ms, and all again at 7 ms.
    """
    record = run(
        [0.9, 0.05, 0.05],
        labels=["long", "short", "short"],
        sizes=[np.inf, 1e5, 1e5],
        start=[0, 4e-3, 4.01e-3],
        finished=[np.nan, 5e-3, 6e-3],
    )
    series = record.flow_series
    series.time = np.round(series.time, 9)
    full = 0.9 * B / 8 * PAYLOAD / WIRE
    corners = np.cumsum([0, 4e-3 * full, 2e-3 * full / 2, 1e-3 * full * 3 / 4, 3e-3 * full])
    series.acked_bytes[:, 0] = np.interp(series.time, [0, 4e-3, 6e-3, 7e-3, 10e-3], corners)
    series.wire_bytes[:, 0] = series.acked_bytes[:, 0] * WIRE / PAYLOAD
    slow = (series.time > 4.04e-3) & (series.time < 7e-3)
    series.rate[:, 0] = np.where(slow, B / 2, B)
    return record


def test_recovery_and_reaction_of_a_staircase() -> None:
    record = staircase()
    found = long_short.recovery(record, spans.window(record))
    assert (found.interruptions, found.recovered, found.slowed) == (1, 1, 1)
    assert found.recovery == pytest.approx(1e-3, abs=1e-4)  # at most a stretch of two samples off
    assert found.reaction == pytest.approx(50e-6 / RTT)  # the second sample is the first with half the rate


def test_a_backlog_that_drains_is_no_recovery() -> None:
    record = staircase()
    series, backlog = record.flow_series, 0.2e-3 * B / 8  # bytes: came back at full rate from 6 to 6.8 ms
    drained = np.interp(series.time, [0, 4e-3, 6e-3, 6.8e-3], [0, 0, backlog, 0])
    for came in (series.acked_bytes, series.wire_bytes):
        came[:, 0] -= drained
    series.inflight[:, 0] += drained
    assert long_short.recovery(record, spans.window(record)).recovery == pytest.approx(1e-3, abs=1e-4)


def test_what_full_rate_is_can_be_said() -> None:
    record = staircase()
    early = long_short.recovery(record, spans.window(record), full=0.7)
    assert early.recovery == pytest.approx(0, abs=1e-4)
    never = long_short.recovery(record, spans.window(record), full=1.1, slowed=0.4)
    assert (never.recovered, never.slowed) == (0, 0)
    assert math.isnan(never.recovery)
    assert math.isnan(never.reaction)


def test_a_window_reacts_as_a_rate_does() -> None:
    record = staircase()
    series = record.flow_series
    series.window[:, 0] = RTT * series.rate[:, 0] / 8
    series.rate[:, 0] = np.inf
    assert long_short.recovery(record, spans.window(record)).reaction == pytest.approx(50e-6 / RTT)


def test_short_flows_that_never_end_leave_no_recovery() -> None:
    record = staircase()
    record.flows.finished[2] = np.nan
    found = long_short.recovery(record, spans.window(record))
    assert (found.interruptions, found.recovered) == (1, 0)


def test_two_interruptions_are_told_apart_and_those_of_the_warmup_left_out() -> None:
    record = staircase()
    record.flows.start[2] = 5.5e-3
    assert long_short.recovery(record, spans.window(record)).interruptions == 2
    assert long_short.recovery(record, Window(5e-3, 10e-3)).interruptions == 1


def test_without_series_of_long_flows_only_the_bandwidth_is_known() -> None:
    record = staircase()
    record.acked_in_window = spans.growth(record.flow_series.time, record.flow_series.acked_bytes, spans.window(record))
    before = throughput.long_bandwidth(record, spans.window(record))
    without_series(record, [1, 2])
    assert throughput.long_bandwidth(record, spans.window(record)) == pytest.approx(before)
    assert math.isnan(long_short.recovery(record, spans.window(record)).recovery)
