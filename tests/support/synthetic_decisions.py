"""A record of decisions with known causes and effects, as an agent would have kept it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.controller import Paths
from testbed.results.decisions import Recorded
from testbed.results.trace import DECIDED, FEEDBACK, START, TIMEOUT, TIMER, TOLD

GBIT = 1e9
ACK: dict[str, float] = {"kind": FEEDBACK, "acked_packets": 1, "rtt": 12.3e-6}
CNP: dict[str, float] = {"kind": FEEDBACK, "cnps": 1, "rtt": 12.3e-6}
LOSS: dict[str, float] = {"kind": FEEDBACK, "lost_packets": 3, "acked_packets": 1, "rtt": 30e-6}
NONE: dict[str, float] = {"kind": TIMEOUT}
RISE: dict[str, float] = {"kind": TIMER}
BEGIN: dict[str, float] = {"kind": START}


def row(time: float, flow: int, rate: float, came: dict[str, float], window: float = np.inf) -> dict[str, float]:
    """One call: at ``time`` s, about the agent's flow, ``rate`` in Gbit/s as decided."""
    return {"time": time, "flow": flow, "rate": rate * GBIT, "window": window, "timer": np.inf, **came}


def recorded(rows: list[dict[str, float]], *, first: int = 0, flows: int = 1, cut: bool = False) -> Recorded:
    """What one agent recorded."""
    ints = {"kind", "flow", "sent_bytes", *TOLD}
    columns: dict[str, NDArray[Any]] = {
        name: np.array([one.get(name, 0) for one in rows], np.int64 if name in ints else np.float64)
        for name in ("time", "kind", "flow", "sent_bytes", "rtt", *DECIDED, *TOLD)
    }
    columns["call"] = np.arange(len(rows))
    every = np.full(flows, 1.0)
    paths = Paths(1e11 * every, 8e-6 * every, every.astype(np.int64), payload=1000, wire_size=1100)
    return Recorded(first, paths, columns, np.full(len(rows), -1), cut)


def halved_by_a_cnp(flow: int = 0) -> list[dict[str, float]]:
    """Calls about one flow: 1000 acknowledgements, a CNP at 1.2345 ms that halves the rate, a loss, a timeout."""
    calls = [row(0, flow, 100, BEGIN)]
    calls += [row(1e-6 * i, flow, 100, ACK) for i in range(1, 1001)]
    calls += [row(1.2345e-3, flow, 50, CNP), row(1.3e-3, flow, 50, ACK), row(1.5345e-3, flow, 60, RISE)]
    return [*calls, row(2e-3, flow, 20, LOSS), row(3e-3, flow, 5, NONE), row(4e-3, flow, 5, ACK)]
