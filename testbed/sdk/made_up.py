"""Made-up events for a controller: what could happen to some flows, and now and then the extremes of a field."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.compiled.events import EVENTS
from testbed.compiled.layout import ACK
from testbed.controller import MOST_HOPS, Paths

FLOWS = 16
TOLD = np.dtype([("flow", "i8"), ("event", "i8"), ("number", "i8"), ("now", "f8"), ("ack", ACK)])  # of a file, as well
SHARES = {
    "on_start": 0.002, "on_ack": 0.75, "on_cnp": 0.05, "on_loss": 0.04, "on_timeout": 0.01, "on_timer": 0.05,
    "on_sent": 0.07, "on_src": 0.028,
}  # fmt: skip
EXTREME = 0.02  # of the acknowledgements have an extreme field
EXTREMES: dict[str, tuple[float, ...]] = {
    "packets": (0, 1, 1 << 20), "bytes": (1, 1 << 40), "seq": (0, 1 << 52), "next_seq": (0, 1 << 52),
    "inflight": (0, 1 << 40), "rtt": (1e-9, 1e-7, 1.0, 100.0), "ce_packets": (0, 1), "inc_packets": (0, 1),
}  # fmt: skip
HOP_EXTREMES = {"ts": (0.0, 1e6), "tx_bytes": (0.0, 2.0**53), "queue": (0.0, 1e12), "rate": (1e6, 1e15)}
WIRE, PAYLOAD = 1122, 1000


def paths() -> Paths:
    """Of slow and fast flows, near and far."""
    rates, rtts = np.array([10e9, 25e9, 100e9, 400e9]), np.array([2e-6, 8e-6, 13e-6, 1e-3])
    at = np.arange(FLOWS)
    return Paths(rates[at % 4], rtts[at // 4], 1 + at % MOST_HOPS, PAYLOAD, WIRE)


def events(count: int, paths: Paths, seed: int = 1, extreme: float = EXTREME) -> NDArray[Any]:
    """``count`` of them, after one on_start for each flow."""
    rng, flows = np.random.default_rng(seed), len(paths)
    told = np.zeros(flows + count, TOLD)
    told["flow"][:flows] = np.arange(flows)
    told["flow"][flows:] = rng.integers(0, flows, count)
    told["event"][flows:] = rng.choice(len(EVENTS), count, p=[SHARES[event] for event in EVENTS])
    told["now"] = np.cumsum(rng.exponential(paths.base_rtt.mean() / flows / 8, len(told)))
    told["number"] = rng.integers(1, 8, len(told)) * np.where(told["event"] == EVENTS.index("on_sent"), WIRE, 1)
    _acks(told, paths, rng)
    odd = rng.random(len(told)) < extreme
    for name, values in EXTREMES.items():
        _set(told["ack"][name], odd & (rng.random(len(told)) < 0.3), values, rng)
    for name, values in HOP_EXTREMES.items():
        _set(told["ack"]["hops"][name][:, 0], odd & (rng.random(len(told)) < 0.3), values, rng)
    for marked in ("ce_packets", "inc_packets"):
        told["ack"][marked] = told["ack"][marked].clip(max=told["ack"]["packets"])
    return told


def _acks(told: NDArray[Any], paths: Paths, rng: np.random.Generator) -> None:
    """Acknowledgements as they come: numbers of packets grow, and so do times and counters of the hops."""
    ack, count, flow = told["ack"], len(told), told["flow"]
    queueing = rng.exponential(2.0, count) * rng.integers(0, 2, count)
    ack["now"], ack["packets"] = told["now"], rng.choice([1, 1, 1, 4], count)
    ack["bytes"] = ack["packets"] * WIRE
    ack["rtt"] = paths.base_rtt[flow] * (1 + queueing)
    order = np.argsort(flow, kind="stable")
    sent = np.cumsum(ack["packets"][order])
    ack["seq"][order] = sent
    ack["next_seq"] = ack["seq"] + rng.integers(1, 64, count)
    ack["inflight"] = rng.integers(0, 64, count) * WIRE
    ack["ce_packets"], ack["inc_packets"] = rng.random(count) < 0.2, rng.random(count) < 0.2
    ack["hop_count"] = np.where(rng.random(count) < 0.02, rng.integers(0, MOST_HOPS + 1, count), paths.hops[flow])
    for i in range(MOST_HOPS):
        hop = ack["hops"][:, i]
        hop["node"], hop["rate"] = i + 1, paths.line_rate[flow]
        hop["ts"] = told["now"] - ack["rtt"] / (i + 2)
        hop["tx_bytes"] = np.floor(told["now"] * paths.line_rate[flow] / 8 * 0.9)
        hop["queue"] = np.floor(queueing * 10e3)


def _set(column: NDArray[Any], rows: NDArray[np.bool_], values: tuple[float, ...], rng: np.random.Generator) -> None:
    column[rows] = rng.choice(np.array(values), int(rows.sum())).astype(column.dtype)
