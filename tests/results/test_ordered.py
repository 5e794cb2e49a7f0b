"""Calls come out by time and host, whatever the pieces are in which they are taken, and end with an instant."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.results.ordered import OrderedTrace
from testbed.results.trace import START, TIMER, DecisionTrace

HOST = np.array([3, 1, 2, 1])  # of each flow
CALLS = [(time, flow) for time in (0, 1, 1, 2, 3) for flow in (0, 3, 2, 1, 1)]  # in the order in which they are made
INSTANTS = (5, 15, 20, 25)  # calls until they end


def taken(rows: int, room: int) -> tuple[list[tuple[float, int, float]], OrderedTrace]:
    """Time, flow and number of each."""
    found: list[tuple[float, int, float]] = []

    def take(trace: DecisionTrace) -> int:
        columns = trace.columns()
        found.extend(zip(*(columns[name].tolist() for name in ("time", "flow", "rate")), strict=True))
        return trace.held_calls

    trace = OrderedTrace(rows, 0, HOST, room=room, take=take)
    for number, (time, flow) in enumerate(CALLS):
        trace.record(TIMER if number % 2 else START, float(time), 1, np.array([flow]))
        trace.decided(*(np.array([float(number)]) for _ in range(3)))
    trace.end()
    take(trace)
    return found, trace


@pytest.mark.parametrize("rows", [0, 4, 5, 14, 15, 24, 25, 100])
@pytest.mark.parametrize("room", [1, 3, 7, 1000])
def test_instants_are_in_order_and_whole(rows: int, room: int) -> None:
    found, trace = taken(rows, room)
    kept = max(end for end in (0, *INSTANTS) if end <= rows)
    expected = sorted(range(kept), key=lambda number: (CALLS[number][0], HOST[CALLS[number][1]], number))
    assert found == [(*CALLS[number], number) for number in expected]
    assert trace.cut == (kept < len(CALLS))
    assert trace.rows == trace.calls == kept
