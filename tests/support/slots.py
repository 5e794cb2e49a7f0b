"""Ports and slots for the tests of tuners, and small policies with scores that are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from testbed_plugins.learned.policy import write

from testbed.registry import find
from testbed.tuner import Ports, PortSample, Thresholds, Tuner

SECN2 = Thresholds.uniform(3, 100e3, 400e3, 0.2)


def ports(n: int = 3, rate: float = 25e9, buffer: float = 12e6, **more: Any) -> Ports:
    return Ports(tuple(f"s1-eth{k}" for k in range(1, n + 1)), np.full(n, rate), np.full(n, buffer), 13e-6, **more)


def slot(thresholds: Thresholds, **columns: Any) -> PortSample:
    """A slot in which nothing happened, but for ``columns``: one number for all queues, or one each."""
    idle = PortSample.idle(thresholds)
    n = len(idle.queue)
    return replace(idle, **{name: np.broadcast_to(np.asarray(value, float), n) for name, value in columns.items()})


def made(name: str, folder: Path, scores: dict[int, float], **options: Any) -> tuple[type[Tuner], dict[str, Any]]:
    """A tuner's class, and options with a policy whose scores are constant: 0 but for these."""
    form = find("tuner", name).form
    kind = form.kind(flows=form.sees_flows(form.Config()))
    bias = np.zeros(kind.scores)
    for number, score in scores.items():
        bias[number] = score
    write([(np.zeros((kind.scores, kind.features)), bias)], folder / "policy.onnx", {"plugin": name})
    return form, {"policy": str(folder / "policy.onnx"), **options}


def tuner(name: str, folder: Path, scores: dict[int, float], at: Ports, **options: Any) -> Any:
    form, chosen = made(name, folder, scores, **options)
    return form(form.Config(**chosen), at)
