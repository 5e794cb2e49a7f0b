"""Advice where the truth is known: a made-up network whose figures are a function of thresholds and draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from testbed.advise.advice import Advice, advise
from testbed.advise.budget import Budget
from testbed.advise.evidence import Ask, Found
from testbed.advise.question import CHECK, Question, Task

Truth = Callable[[float, float, float, np.random.Generator], Mapping[str, float]]  # kmin, kmax, pmax
KEYS = ("tuner.kmin", "tuner.kmax", "tuner.pmax")
NOW = (100e3, 400e3, 0.2)  # of the experiment `websearch`


def planted(
    truth: Truth, *, seed: int = 1, runs: int = 450, unlike: Truth | None = None,
    doubted: Callable[[float], bool] = lambda _kmin: False, budget: Budget | None = None,
    ran: Callable[[Ask], None] = lambda _ask: None, **question: object,
) -> Advice:  # fmt: skip
    """Advice about it; ``unlike`` is what holds in the draws of the check, by default the same; where Kmin is
    ``doubted`` runs are degraded. With a ``budget`` of time others are compared with it; ``ran`` hears of every run.
    """
    asked = Question.model_validate({"traffic": ("websearch",), "seed": seed, "objective": "ql_p99", **question})
    task = Task.of(asked, Path())

    def carry(asks: Iterable[Ask]) -> Iterator[Found]:
        for one in asks:
            ran(one)
            yield _one(unlike if unlike and one.draw > CHECK else truth, one)

    def _one(holds: Truth, ask: Ask) -> Found:
        said = dict(one.split("=", 1) for one in ask.candidate)
        knobs = {one.key: one for one in task.knobs}
        values = [knobs[key].number(said[key]) if key in said else now for key, now in zip(KEYS, NOW, strict=True)]
        figures = holds(values[0], values[1], values[2], np.random.default_rng([ask.draw, len(ask.condition)]))
        return Found(figures, doubts=frozenset({"late"} if doubted(values[0]) else ()))

    return advise(task, carry, budget or Budget(None, runs), lambda _line: None, compared=budget is not None)
