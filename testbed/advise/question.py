"""What is asked: for which traffic, what is to get better, what must hold, and what may be changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from testbed.advise import constraint, objective, present
from testbed.advise.constraint import Constraint
from testbed.advise.kept import Kept
from testbed.advise.knob import Knob
from testbed.advise.objective import Figures, Objective
from testbed.advise.sonic_change import tied
from testbed.advise.workload import Workload, workloads
from testbed.errors import BadInput

CHECK = 1 << 20  # the seeds of the check begin so much higher than those of the search


class Question(BaseModel):
    """As it was put; `Task` is what it comes to."""

    model_config = ConfigDict(frozen=True)

    traffic: tuple[str, ...]
    switch: str = ""
    settings: tuple[str, ...] = ()
    objective: str = ""
    constraints: tuple[str, ...] = ()
    change: tuple[str, ...] = ()
    keep: str = ""  # test plan, and its cases
    draws: int = Field(default=3, ge=1)  # of each workload, that candidates are chosen by
    checks: int = Field(default=9, ge=6)  # and that the one which is chosen is measured on; six give 95 %
    worth: float = Field(default=0.02, ge=0, lt=1)  # the least gain that is worth a change
    seed: int = Field(default=1, ge=0)


@dataclass(frozen=True)
class Task:
    """A question whose words are understood. ``known``: the objective's figures that each workload has."""

    question: Question
    workloads: Sequence[Workload]
    knobs: Sequence[Knob]
    constraints: Sequence[Constraint]
    keep: Kept | None = None

    @property
    def search_draws(self) -> list[int]:
        """Seeds that candidates are chosen by."""
        return [self.question.seed + number for number in range(self.question.draws)]

    @property
    def check_draws(self) -> list[int]:
        """Seeds that the search never saw."""
        return [self.question.seed + CHECK + number for number in range(self.question.checks)]

    @property
    def names(self) -> list[str]:
        """Of the workloads."""
        return [one.name for one in self.workloads]

    @cached_property
    def notes(self) -> list[str]:
        """What a reader must know about the draws, and about cases that are left out."""
        ends = [self.search_draws[0], self.check_draws[-1]]
        return [*(self.keep.left_out if self.keep else ()), *(
            f"all draws of {one.name} have the same flows, and only chance in starts and marking differs: what is said "
            "holds for these flows"
            for one in self.workloads
            if one.same_flows(ends)
        )]  # fmt: skip

    @classmethod
    def of(cls, question: Question, folder: Path) -> Task:
        """Raises BadInput."""
        switch = Path(question.switch).expanduser() if question.switch else None
        found = workloads(question.traffic, switch, question.settings, folder)
        knobs = [Knob.read(one) for one in question.change] or present.knobs(found)
        if len({one.key for one in knobs}) < len(knobs):
            raise BadInput("--change: a key is there twice; give each one range or one list")
        if switch:
            knobs = tied(switch, knobs, {place for one in found for place in one.places})
        texts = question.constraints or (constraint.USUAL,)
        names = [one.name for one in found]
        keep = Kept.read(question.keep, switch, found[0].rate) if question.keep else None
        return cls(question, found, knobs, [Constraint.read(one, names) for one in texts], keep)


@dataclass(frozen=True)
class Aim:
    """The objective, and which of its figures each workload has; those without any are there for their constraints."""

    objective: Objective
    figures: dict[str, list[str]]

    @classmethod
    def of(cls, text: str, now: dict[str, list[Figures]]) -> Aim:
        """``now``: runs of the present configuration, by workload. Raises BadInput if none has such a figure."""
        wanted = Objective.read(text) if text else _usual(now)
        figures = {name: wanted.known(runs) for name, runs in now.items()}
        if not any(figures.values()):
            raise BadInput(
                f"--objective {text}: no workload has these figures (a job has iteration_mean, finite flows have "
                "slowdown_p99 and fct_p99, any has ql_p99 and goodput); choose another, or run longer"
            )
        for name, runs in now.items():
            for figure in set(wanted.weights) - set(figures[name]):
                if any(math.isfinite(run.get(figure, math.nan)) for run in runs):
                    raise BadInput(
                        f"--objective {text}: {figure} of {name} is not known in every draw: too little finishes; "
                        "choose another, or run longer (--set time.duration=...)"
                    )
        return cls(wanted, figures)

    def gains(self, now: dict[str, list[Figures]], was: dict[str, list[Figures]]) -> list[float]:
        """Of each draw: the mean over those of these workloads that have figures of it. There is one."""
        counted = {name: self.figures[name] for name in now if self.figures[name]}
        return [
            sum(self.objective.gain(now[name][draw], was[name][draw], known) for name, known in counted.items())
            / len(counted)
            for draw in range(len(next(iter(now.values()))))
        ]


def _usual(now: dict[str, list[Figures]]) -> Objective:
    """For each workload the first of the usual figures that it has."""
    named = {
        next((name for name in objective.USUAL if Objective({name: 1}).known(runs)), objective.USUAL[-1])
        for runs in now.values()
    }
    return Objective(dict.fromkeys(sorted(named), 1.0))
