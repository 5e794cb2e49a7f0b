"""The calls about one flow, in the order of time, and where the steps of its timeline begin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.base.arrays import Floats, Ints
from testbed.results.decisions import Recorded
from testbed.results.trace import DECIDED, START, TIMEOUT

MOST_SINGLE = 250  # calls of a flow that are told one by one; what lies between them is summed up
MOST_BETWEEN = 200  # at least this finely
CONTEXT = 3  # calls before and after the biggest changes are told one by one as well
CHANGED = 1e-9  # a smaller relative change is rounding
LEAST = 1.0  # bit/s, B: less is as good as nothing, and has no logarithm


@dataclass(frozen=True)
class Calls:
    """All calls about one flow; columns have one entry per call."""

    columns: dict[str, NDArray[Any]]
    base_rtt: float  # s
    cut: bool = False  # there were more calls than were kept

    def __len__(self) -> int:
        return len(self.columns["time"])

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    @cached_property
    def before(self) -> dict[str, Floats]:
        """What was active when a call came; nan before the first."""
        return {name: np.concatenate(([np.nan], self[name]))[: len(self)] for name in DECIDED}

    @cached_property
    def leading(self) -> str:
        """What the controller works by: ``rate``, or ``window`` if it leaves the rate alone."""
        return "window" if (self._logarithm("rate") == 0).all() and self._logarithm("window").any() else "rate"

    @cached_property
    def change(self) -> Floats:
        """Logarithm of the factor by which a call changed what is leading: a halving is as big as a doubling."""
        return self._logarithm(self.leading)

    def _logarithm(self, name: str) -> Floats:
        before, after = self.before[name], self[name]
        known = np.isfinite(before) & np.isfinite(after)
        before, after = (np.maximum(np.where(known, value, LEAST), LEAST) for value in (before, after))
        return np.where(np.abs(after - before) > CHANGED * before, np.log(after / before), 0.0)

    @cached_property
    def bad_news(self) -> NDArray[np.bool_]:
        """Calls that told of congestion or loss."""
        told = self["cnps"] + self["ce_packets"] + self["lost_packets"]
        return np.asarray((told > 0) | (self["kind"] == TIMEOUT))


def calls_of(agents: list[Recorded], flow: int) -> Calls | None:
    """The calls about the flow of this number in the rack; None if no agent served it."""
    for one in agents:
        own = flow - one.first
        if 0 <= own < len(one.paths.base_rtt):
            rows = np.flatnonzero(one.columns["flow"] == own)
            columns = {name: values[rows] for name, values in one.columns.items()}
            columns |= {"queue": np.full(len(rows), np.nan), "output": np.full(len(rows), np.nan)}
            for hop in range(max(0, int(one.hops.max(initial=-1)))):
                _add_hop(columns, f"hop{hop + 1}", columns["hops"] > hop)
            return Calls(columns, float(one.paths.base_rtt[own]), one.cut)
    return None


def _add_hop(columns: dict[str, NDArray[Any]], hop: str, valid: NDArray[np.bool_]) -> None:
    """Fold one hop's INT into ``queue``, B, of the fullest hop and ``output``, the share of its rate that it sent."""
    at = np.flatnonzero(valid)
    queue, rate = columns[f"{hop}_queue"][at], columns[f"{hop}_rate"][at]
    sent, ts = np.diff(columns[f"{hop}_tx_bytes"][at]), np.diff(columns[f"{hop}_ts"][at])
    output = np.full(len(at), np.nan)
    output[1:] = np.divide(8 * sent, ts * rate[1:], out=np.full(len(ts), np.nan), where=ts * rate[1:] > 0)
    fuller = ~(queue <= columns["queue"][at])  # also where none is known yet
    columns["queue"][at[fuller]], columns["output"][at[fuller]] = queue[fuller], output[fuller]


def biggest(calls: Calls, most: int) -> Ints:
    """The calls that changed the most, the biggest change first; at most ``most`` cuts and as many raises."""
    order = np.argsort(-np.abs(calls.change), kind="stable")
    cuts, raises = (order[sign * calls.change[order] > 0][:most] for sign in (-1, 1))
    both = np.concatenate((cuts, raises))
    return both[np.argsort(-np.abs(calls.change[both]), kind="stable")]


def steps(calls: Calls, important: Ints) -> Ints:
    """Where the steps begin: ``important`` calls and other telling ones are alone, the rest is summed up."""
    count = len(calls)
    severe = (calls["kind"] == TIMEOUT) | (calls["lost_packets"] > 0) | (calls["kind"] == START)
    telling = np.abs(calls.change) + 10.0 * severe + 1.0 * (calls["cnps"] > 0)
    order = np.argsort(-telling, kind="stable")[:MOST_SINGLE]
    near = (important[:, None] + np.arange(-CONTEXT, CONTEXT + 1)).ravel()
    alone = np.union1d(order[telling[order] > 0], near[(near >= 0) & (near < count)])
    evenly = np.linspace(0, count - 1, min(count, MOST_BETWEEN)).astype(np.int64)
    begin = np.unique(np.concatenate((alone, alone + 1, evenly)))
    return begin[begin < count]
