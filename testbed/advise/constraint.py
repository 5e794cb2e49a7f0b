"""What must hold: ``slowdown_elephants_mean <= 1.03*baseline``, in all workloads or in the one that is named before it.

It is written as a gate of `testbed compare` (`testbed.results.compare.gate`). It must hold in more than half of the
draws; ``baseline`` is the present configuration in the same draw, and what is not known does not hold. One without
``baseline`` is a limit: it must also hold in every draw in which it holds now.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from testbed.advise.objective import NUMBERS, Figures
from testbed.errors import BadInput, nearest
from testbed.results.compare.gate import FailCondition, Held, Scope, parse

USUAL = "goodput >= 0.97*baseline"  # else a short queue could be bought with idle links
NOTHING = Held(None, math.inf)
Runs = Mapping[str, Sequence[Figures]]  # of each workload, a run per draw


@dataclass(frozen=True)
class Constraint:
    """A condition; ``workload`` is empty for all of them."""

    text: str
    workload: str
    condition: FailCondition

    @classmethod
    def read(cls, text: str, workloads: Sequence[str]) -> Constraint:
        """Raises BadInput."""
        name, colon, said = text.partition(":")
        workload = name.strip() if colon else ""
        if workload and workload not in workloads:
            raise BadInput(
                f"--constraint '{text}': no traffic is named '{workload}'; {nearest(workload, [*workloads])}"
            )
        return cls(text, workload, parse(said if colon else text, "--constraint", NUMBERS))

    def holds(self, workload: str, now: Sequence[Figures], was: Sequence[Figures]) -> bool:
        """As above, in the draws of a workload."""
        pairs = zip(*(self.held(workload, runs, was) for runs in (now, was)), strict=True)
        held = [(one.truth is True, had.truth is True) for one, had in pairs if one is not NOTHING]
        lost = not self.condition.uses_baseline and any(had and not one for one, had in held)
        return not held or (2 * sum(one for one, _ in held) > len(held) and not lost)

    def held(self, workload: str, now: Sequence[Figures], was: Sequence[Figures]) -> list[Held]:
        """In each draw, `NOTHING` where the figure is not known now; none if it says nothing about this workload."""
        if self.workload not in {"", workload}:
            return []
        known = [
            bool(self.workload) or all(math.isfinite(run.get(name, math.nan)) for name in self.condition.metrics)
            for run in was
        ]
        return [
            self.condition.held(Scope(_of(one), _of(base))) if one_known else NOTHING
            for one, base, one_known in zip(now, was, known, strict=True)
        ] if any(known) else []  # fmt: skip


def broken(constraints: Sequence[Constraint], now: Runs, was: Runs) -> list[str]:
    """Those that do not hold, each with its workload."""
    return [
        one.text if one.workload or len(now) == 1 else f"{workload}: {one.text}"
        for one in constraints
        for workload in now
        if not one.holds(workload, now[workload], was[workload])
    ]


def margins(constraints: Sequence[Constraint], now: Runs, was: Runs) -> list[float]:
    """Of each draw the least of all constraints and workloads; -1 where it is not known, inf without any."""
    each = [one.held(workload, now[workload], was[workload]) for one in constraints for workload in now]
    every = [[-1.0 if math.isnan(one.margin) else one.margin for one in held] for held in each if held]
    return [min(draw) for draw in zip(*every, strict=True)] or [math.inf]


def _of(run: Figures) -> Callable[[str], float]:
    return lambda name: run.get(name, math.nan)
