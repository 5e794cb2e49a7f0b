"""From the figures of a run to parts of the score: each is in 0..1, and 1 is the best that a network allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from testbed.results.summary import Summary

LOSS_THAT_HALVES = 1.0  # % of the packets sent
RECOVERY_THAT_HALVES = 10.0  # base RTTs


def _utilisation(run: Summary) -> float:
    return run.su / 100


def _fairness(run: Summary) -> float:
    return run.jain_flows


def _queue(run: Summary) -> float:
    return 1 / (1 + max(run.ql_mean, 0.0) / run.base_rtt)


def _loss(run: Summary) -> float:
    return 1 / (1 + run.loss / LOSS_THAT_HALVES)


def _finished(run: Summary) -> float:
    """Share of the finite flows; the others are in no completion time, so that they must count otherwise."""
    return run.fct_finished / max(run.fct_finished + run.fct_unfinished, 1)


def _recovery(run: Summary) -> float:
    if not run.recovered:
        return 0.0
    speed = 1 / (1 + run.recovery / (RECOVERY_THAT_HALVES * run.base_rtt))
    return speed * run.recovered / run.interruptions


PARTS: dict[str, Callable[[Summary], float]] = {
    "utilisation": _utilisation,
    "fairness": _fairness,
    "queue": _queue,
    "loss": _loss,
    "slowdown_mean": lambda run: _finished(run) / run.slowdown_mean,
    "slowdown_p99": lambda run: _finished(run) / run.slowdown_p99,
    "recovery": _recovery,
}


def part(name: str, run: Summary) -> float:
    """In 0..1; 0 where it cannot be known."""
    value = PARTS[name](run)
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0


def together(values: Iterable[float]) -> float:
    """Their geometric mean: what is 0 in one is 0 in all, and no unit or weight has to be chosen."""
    logs = [math.log(value) if value > 0 else -math.inf for value in values]
    return math.exp(math.fsum(logs) / len(logs)) if logs else 0.0
