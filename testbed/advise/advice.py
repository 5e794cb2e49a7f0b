"""The whole of it: present configuration, search, choice, check, verdict."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from testbed.advise.budget import MARGIN, SEARCHED, Budget
from testbed.advise.check import Checked, check, runs_of_check, runs_of_learned
from testbed.advise.choose import Fits, choose, final_draws, reduced, runs_of_choice
from testbed.advise.contenders import contenders
from testbed.advise.evidence import Ask, Carry, Evidence, must
from testbed.advise.knob import Knob
from testbed.advise.proposer import Expected
from testbed.advise.question import Aim, Task
from testbed.advise.search import BATCH, History, search
from testbed.advise.space import Space
from testbed.advise.standing import Beside, Standing
from testbed.advise.verdict import Verdict, decide
from testbed.base.progress import clock
from testbed.errors import BadInput


@dataclass(frozen=True)
class Effect:
    """What becomes of the gain, on the search's draws, if one knob stays as it is."""

    knob: Knob
    without: Standing


@dataclass(frozen=True)
class Advice:
    """What was asked and found."""

    task: Task
    space: Space
    beside: Beside
    history: History
    choice: Standing | None  # on the search's draws
    effects: Sequence[Effect]
    checked: Checked
    verdict: Verdict
    seconds: float
    until: float | None  # after which no run begins, nor those of the page

    @property
    def runs(self) -> int:
        """How many were made."""
        return self.beside.evidence.runs


def advise(
    task: Task, carry: Carry, budget: Budget, say: Callable[[str], None], *, compared: bool = True, jobs: int = 1
) -> Advice:
    """Within the budget. ``compared``: also measure vendors' defaults, rules and learned tuners; ``jobs``: cases of a
    test plan at the same time. Raises BadInput."""
    began, evidence = time.monotonic(), Evidence(carry, budget.until)
    draws = task.search_draws
    first = [Ask(name, draw) for name in task.names for draw in draws]
    must(evidence.of(first[:1]), task.names[0])  # alone: it compiles what is compiled once
    now = {name: must(evidence.of([Ask(name, draw) for draw in draws]), name) for name in task.names}
    aim = Aim.of(task.question.objective, now)
    for one in task.constraints:
        if not any(one.held(name, now[name], now[name]) for name in task.names):
            raise BadInput(f"--constraint '{one.text}': no traffic has such a figure; choose another, or run longer")
    beside = Beside(evidence, task.names, aim, task.constraints)
    space = Space.of(task.knobs, task.workloads[0].present)
    start = time.monotonic()
    passing = task.keep.passing(space.now, jobs, budget.until) if task.keep else []
    budget = replace(budget, kept=MARGIN * (time.monotonic() - start) if task.keep else 0.0)
    evidence.until = budget.stop
    others = contenders(space, task.workloads[0].present) if compared else []
    choosing = runs_of_choice(len(space.knobs), len(draws), len(task.names))
    drawing = 2 * len(task.names) * jobs if budget.runs is None else 0  # the page's pictures: one after the other
    later, slow = choosing + drawing + runs_of_check(task, len(others)), runs_of_learned(task, others)
    starts = [one for one in ((), *(one.candidate for one in others if not one.learned)) if space.has(one)]
    if others and budget.without(later, slow).too_short(evidence.run):
        say(f"a run takes {evidence.run:.1f} s: no time to measure vendors' defaults, rules and tuners on their own")
        others, later, slow = [], choosing + drawing + runs_of_check(task, 0), 0
    for_search = budget.without(later, slow)
    batch = BATCH if budget.runs is not None else max(BATCH, jobs)
    _possible(for_search, evidence, batch * len(first))
    say(f"searching on {len(draws)} draws of {', '.join(task.names)}: {', '.join(one.name for one in space.knobs)}")
    history = search(Expected(space, task.question.seed), beside, draws, for_search, starts, batch=batch)
    say(f"{len(history.tried)} candidates, {evidence.runs} runs; choosing among the best")

    def fits(more: int) -> bool:
        checking = budget.without(later - choosing, slow)
        return checking.fits(evidence.runs, more * len(task.names), 1, evidence.run) > 0

    choice = choose(history, space, beside, draws, task.question.worth, fits=fits)
    effects = _effects(choice, space, beside, final_draws(draws), fits) if choice else []
    say(f"checking on {len(task.check_draws)} draws that the search never saw")
    checked = check(task, beside, choice.candidate if choice else None, others)
    if task.keep and choice:
        say(f"running the cases of {task.keep.plan}")
        against = task.keep.against(passing, space.texts(choice.candidate), jobs, budget.until)
        checked = replace(checked, against=against)
    verdict = decide(history, checked, task.question.worth)
    seconds = time.monotonic() - began
    return Advice(task, space, beside, history, choice, effects, checked, verdict, seconds, budget.until)


def _possible(budget: Budget, evidence: Evidence, least: int) -> None:
    if budget.too_short(evidence.run):
        needed = (2 * budget.kept + MARGIN * budget.later * evidence.run) / (1 - SEARCHED)
        raise BadInput(
            f"--budget: a run takes {evidence.run:.1f} s, and choosing and checking {budget.later} of them; give at "
            f"least {clock(60 * math.ceil(needed / 60))}, shorter runs (--set time.duration=...), or fewer --checks"
        )
    least += evidence.runs + budget.later
    if budget.runs is not None and budget.runs < least:
        raise BadInput(f"--runs {budget.runs}: choosing and checking alone take {budget.later}; give at least {least}")


def _effects(choice: Standing, space: Space, beside: Beside, draws: Sequence[int], fits: Fits) -> list[Effect]:
    changed = space.changed(choice.candidate)
    if len(changed) < 2 or not fits(len(changed) * len(draws)):
        return []
    without = [reduced(choice.candidate, [one for one in changed if one is not knob], space) for knob in changed]
    return [Effect(*pair) for pair in zip(changed, beside.stand(without, draws), strict=True)]
