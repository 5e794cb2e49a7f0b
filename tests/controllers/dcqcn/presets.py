"""DCQCN as published and as in NICs."""

from __future__ import annotations

from typing import Any

from tests.support.rows import ONE, controller, feedback, paths

CNP = feedback(cnps=1)
LINE = 40e9


def paper(line_rate: float = LINE, **options: Any) -> Any:
    return controller("dcqcn", paths(line_rate=line_rate), "paper", **options)


def nic(line_rate: float = 25e9, **options: Any) -> Any:
    return controller("dcqcn", paths(line_rate=line_rate), "nic", **options)


def step(dcqcn: Any) -> float:
    """Let the next timer fire; returns its time."""
    now = float(dcqcn.timer[0])
    dcqcn.on_timer(now, ONE)
    return now
