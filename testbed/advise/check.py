"""Measures what was put forward on the half of the draws that the search never saw, beside what it is compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from testbed.advise.budget import Spent
from testbed.advise.conditions import Condition, conditions
from testbed.advise.contenders import Contender
from testbed.advise.evidence import Settings
from testbed.advise.objective import Figures
from testbed.advise.question import Task
from testbed.advise.standing import Beside, Standing
from testbed.errors import BadInput
from testbed.results.compare.median import Estimate, estimate

CONDITION_DRAWS = 6  # the fewest whose smallest and largest hold the median with 95 %


@dataclass(frozen=True)
class Under:
    """How the change stands under a condition; ``missing`` says why that is not known."""

    condition: Condition
    gain: Estimate
    missing: str = ""


@dataclass(frozen=True)
class Ranked:
    """How a contender stands beside the present configuration."""

    contender: Contender
    standing: Standing


@dataclass(frozen=True)
class Checked:
    """``present`` is held against the constraints alone; there are no others without a candidate."""

    present: Standing
    advised: Standing | None
    under: Sequence[Under] = ()
    contenders: Sequence[Ranked] = ()
    against: Sequence[str] = ()  # sentences about cases of a test plan that passed before

    @property
    def gain(self) -> Estimate:
        """Of the change, over the draws of the check."""
        return estimate(self.advised.gains if self.advised else [])


def runs_of_check(task: Task, contenders: int) -> int:
    """How many runs it takes at most."""
    each = 2 * sum(not one.missing for work in task.workloads for one in conditions(work))
    return (2 + contenders) * task.question.checks * len(task.workloads) + each * CONDITION_DRAWS


def runs_of_learned(task: Task, others: Sequence[Contender]) -> int:
    """How many of them have a network that decides."""
    return sum(one.learned for one in others) * task.question.checks * len(task.workloads)


def check(task: Task, beside: Beside, candidate: Settings | None, contenders: Sequence[Contender]) -> Checked:
    """Everything, the change first and what it is compared with last. Raises BadInput if the present configuration
    cannot run, or if there was no time for the change.
    """
    draws = task.check_draws
    present, *chosen = beside.stand([()] if candidate is None else [(), candidate], draws)
    under = [_under(one, beside, candidate, draws[:CONDITION_DRAWS])
             for work in task.workloads if candidate is not None and beside.aim.figures[work.name]
             for one in conditions(work)]  # fmt: skip
    return Checked(present, chosen[0] if chosen else None, under, [_ranked(one, beside, draws) for one in contenders])


def _ranked(one: Contender, beside: Beside, draws: Sequence[int]) -> Ranked:
    try:
        return Ranked(one, *beside.stand([one.candidate], draws))
    except Spent as error:
        return Ranked(one, Standing(one.candidate, [], why=str(error)))


def _under(one: Condition, beside: Beside, candidate: Settings, draws: Sequence[int]) -> Under:
    unknown = estimate([])
    if one.missing:
        return Under(one, unknown, one.missing)
    alone = Beside(beside.evidence, [one.workload], beside.aim, beside.constraints)
    try:
        (standing,) = alone.stand([candidate], draws, one.settings)
    except BadInput as error:
        return Under(one, unknown, str(error))
    if not standing.gains or math.isnan(standing.gain):
        return Under(one, unknown, standing.why or "the objective is not known there")
    return Under(one, estimate(standing.gains))


@dataclass(frozen=True)
class Paired:
    """One figure of one workload: medians before and after, and the paired difference, relative where it can be."""

    workload: str
    figure: str
    before: float
    after: float
    difference: Estimate
    relative: bool


def paired(workload: str, figure: str, now: Sequence[Figures], was: Sequence[Figures]) -> Paired:
    """Draw by draw."""
    before, after = ([run.get(figure, math.nan) for run in runs] for runs in (was, now))
    relative = all(value > 0 for value in before)
    differences = [b / a - 1 if relative else b - a for a, b in zip(before, after, strict=True)]
    return Paired(workload, figure, estimate(before).median, estimate(after).median, estimate(differences), relative)
