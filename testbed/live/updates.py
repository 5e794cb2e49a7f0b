"""What happened between two snapshots, as the live page, `testbed watch` and the progress line show it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from testbed.agent.histogram import edges
from testbed.base.arrays import Floats
from testbed.live.scene import Scene
from testbed.live.snapshot import Snapshot
from testbed.results.figures import jain
from testbed.results.record import RTT_BINS_PER_OCTAVE, Histogram

Update = dict[str, Any]
DIGITS = 5  # of a figure in an update: more than any screen shows


@np.errstate(divide="ignore", invalid="ignore")  # nothing was acknowledged, or no time has passed: unknown
def update(scene: Scene, before: Snapshot, now: Snapshot) -> Update:
    """One update for JSON: nominal SI units; None is unknown or unlimited."""
    goodput = _goodput(before, now)
    return {
        "time": now.time,
        "ports": _ports(scene, before, now),
        "queues": _queues(scene, before, now),
        "flows": _flows(goodput, now),
        "controllers": _controllers(before, now),
        "jobs": _jobs(now),
        "spans": _spans(now),
        "rtt": _rtt(before, now),
        "jain": _plain(jain(goodput[now.flows["sent"] > 0])),  # of the flows that have started
        "distortion": {limit: _plain(used) for limit, used in now.distortion.items()},
        "verdict": "degraded" if now.reasons else "clean",
        "reasons": list(now.reasons),
    }


def _ports(scene: Scene, before: Snapshot, now: Snapshot) -> dict[str, Any]:
    rate = np.array([port.rate for port in scene.ports])
    return _waiting(rate, before.ports, now.ports, now.time - before.time)


def _queues(scene: Scene, before: Snapshot, now: Snapshot) -> dict[str, Any]:
    """The same of all queues, where ports have several; and since the run began, how long each was held."""
    if not scene.queues:
        return {}
    rates = {port.name: port.rate for port in scene.ports}
    rate = np.array([rates[queue.port] for queue in scene.queues])
    told = _waiting(rate, before.queues, now.queues, now.time - before.time)
    return told | {"held": _list(now.queues["paused"])}


def _waiting(
    rate: Floats, before: Mapping[str, Floats], now: Mapping[str, Floats], seconds: float
) -> dict[str, list[float | None]]:
    grown = {name: now[name] - before[name] for name in ("tx_packets", "tx_bytes", "marked_packets")}
    carried = grown["tx_bytes"] * 8 / (rate * seconds)
    columns = {
        "utilisation": np.minimum(carried, 1.0),  # a link carries no more: samples are a moment early or late
        "queue": now["queue"],
        "queue_max": now["peak_queue"],
        "marked": grown["marked_packets"] / np.maximum(grown["tx_packets"], 1.0),
        "drops": now["dropped_packets"],
        **{name: now[name] for name in ("kmin", "kmax", "pmax")},
    }
    return {name: _list(column) for name, column in columns.items()}


def _flows(goodput: Floats, now: Snapshot) -> dict[str, Any]:
    flows = now.flows
    columns = {
        "goodput": goodput,
        **{name: flows[name] for name in ("rate", "window", "rtt", "inflight", "lost", "cnps")},
    }
    return {name: _list(np.asarray(column, float)) for name, column in columns.items()}


def _controllers(before: Snapshot, now: Snapshot) -> dict[str, Any]:
    """Share and marks of 1, as of ports; RTT is the mean over the interval's acknowledgements."""
    grown = {name: (now.controllers[name] - before.controllers[name]).astype(float) for name in now.controllers}
    rtt = now.controller_rtt.total - before.controller_rtt.total
    goodput = grown["acked_payload"] * 8 / _seconds(before, now)
    columns = {
        "goodput": goodput,
        "share": goodput / goodput.sum(),
        "rtt": rtt / grown["acked"],
        "marked": grown["ce"] / grown["acked"],
    }
    return {name: _list(column) for name, column in columns.items()}


def _jobs(now: Snapshot) -> dict[str, Any]:
    """So far, not since the last time: iterations are few."""
    names = ("last", "straggler", "bus_bandwidth")
    columns = {name: [_plain(getattr(one, name)) for one in now.jobs] for name in names}
    return {"iterations": [one.iterations for one in now.jobs], **columns}


def _spans(now: Snapshot) -> list[list[Any]]:
    """Row, what is done, from when to when."""
    spans = now.spans
    times = (_list(column) for column in (spans.begin, spans.end))
    return [list(one) for one in zip(spans.row.tolist(), spans.does.tolist(), *times, strict=True)]


def _goodput(before: Snapshot, now: Snapshot) -> Floats:
    acked = now.flows["acked_payload"] - before.flows["acked_payload"]
    return np.asarray(acked * 8 / _seconds(before, now))


def _rtt(before: Snapshot, now: Snapshot) -> dict[str, float | None]:
    histogram = Histogram(edges(RTT_BINS_PER_OCTAVE), now.rtt - before.rtt)
    return {"p50": _plain(histogram.quantile(0.5)), "p99": _plain(histogram.quantile(0.99))}


def _seconds(before: Snapshot, now: Snapshot) -> float:
    return now.time - before.time


def _list(column: Floats) -> list[float | None]:
    return [_plain(value) for value in column.tolist()]


def _plain(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
