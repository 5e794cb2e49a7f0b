"""What the workshops of learned tuners share: a job trains one policy per workload, measures it, and keeps a log."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from testbed.controller import Floats
from testbed.packages import need, versions
from testbed.plugin import find
from testbed.tuner import Ports, PortSample, Tuner
from testbed.whole import write_whole
from testbed.workshop import JobConfig, Order, Result

from .environment import LARGEST
from .evaluation import Make, ahead, compare, means, static, table
from .policy import Layer, write
from .tuner import Workload

SEEDS = range(101, 106)  # of the evaluation: none that anything was trained with
BASELINES = {
    "secn1": static("secn1"),
    "secn2": static("secn2"),
    # The hardest marking that PET's grid has: what a policy that had learned nothing else would be.
    "tightest": static(kmin="20 kB", kmax="40 kB", pmax="100 %", reference_rate=0),
}
PUBLISHED = ("secn1", "secn2")
LOG = "training.json"


@dataclass(frozen=True)
class Trained:
    """One workload's policy, and how it came about."""

    layers: list[Layer]
    history: Sequence[Any]  # dataclasses with a ``reward``
    about: dict[str, Any]


def run(
    name: str,
    settings: JobConfig,
    order: Order,
    *,
    workloads: Sequence[Workload],
    train: Callable[[Workload], Trained],
    reward: Callable[[Workload], Callable[[PortSample, Ports], Floats]],
) -> Result:
    """Train, measure against the static tuners, write. Raises BadInput if a package is missing."""
    need("torch", "onnx")  # before any time is spent
    lines: list[str] = []
    log: dict[str, Any] = {
        "command": order.command,
        "settings": settings.model_dump(mode="json"),
        "versions": versions("numpy", "torch", "onnx"),
        "largest_message": LARGEST,
        "workloads": {},
    }
    for workload in workloads:
        trained = train(workload)
        file = order.out / f"{workload}.onnx"
        write(trained.layers, file, {"plugin": name, "workload": workload})
        makers: dict[str, Make] = {name: with_policy(name, workload, file), **BASELINES}
        found = compare(makers, workload, SEEDS, reward(workload))
        lines += [f"{workload}:", *table(found, name)]
        log["workloads"][workload] = {
            **trained.about,
            "seconds_of_cpu": round(trained.history[-1].seconds, 1),
            "figures": {one: means(figures) for one, figures in found.items()},
            "ahead": {one: [round(x, 4) for x in ahead(found[name], found[one])] for one in BASELINES},
            "history": [_rounded(asdict(one)) for one in trained.history],
        }
    write_whole(order.out / LOG, (json.dumps(log, indent=1) + "\n").encode())
    return Result(lines, {one: _short(entry) for one, entry in log["workloads"].items()}, _refused(log["workloads"]))


def with_policy(name: str, workload: str, file: Path) -> Make:
    plugin = find("tuner", name)
    config = plugin.configure(None, {"workload": workload, "policy": str(file)})

    def make(ports: Ports) -> Tuner:
        tuner: Tuner = plugin.form(config, ports)
        return tuner

    return make


def _refused(workloads: dict[str, Any]) -> str:
    """A policy that earns less than static thresholds is not worth its cost."""
    behind = [
        f"no more reward than {other} on {workload}"
        for workload, entry in workloads.items()
        for other in PUBLISHED
        if entry["ahead"][other][0] <= 0
    ]
    return "; ".join(behind)


def _short(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: entry[key] for key in ("seconds_of_cpu", "figures", "ahead")}


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _rounded(value) if isinstance(value, dict) else float(np.round(value, 5)) if value is not None else None
        for key, value in row.items()
    }
