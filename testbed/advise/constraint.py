"""What must hold: ``slowdown_elephants_mean <= 1.03*baseline``, in all workloads or in the one that is named before it.

It is written as a gate of `testbed compare` (`testbed.results.compare.gate`). It must hold in more than half of the
draws; ``baseline`` is the present configuration in the same draw, and what is not known does not hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from testbed.advise.objective import NUMBERS, Figures
from testbed.errors import BadInput, nearest
from testbed.results.compare.gate import FailCondition, Scope, parse

USUAL = "goodput >= 0.97*baseline"  # else a short queue could be bought with idle links
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
        """In more than half of the draws of a workload; a figure that it does not have there now says nothing."""
        if self.workload not in {"", workload}:
            return True
        named = [run.get(name, math.nan) for run in was for name in self.condition.metrics]
        if not self.workload and any(map(math.isnan, named)):
            return True
        held = [self.condition.holds(Scope(_of(one), _of(base))) is True for one, base in zip(now, was, strict=True)]
        return 2 * sum(held) > len(held)


def broken(constraints: Sequence[Constraint], now: Runs, was: Runs) -> list[str]:
    """Those that do not hold, each with its workload."""
    return [
        one.text if one.workload or len(now) == 1 else f"{workload}: {one.text}"
        for one in constraints
        for workload in now
        if not one.holds(workload, now[workload], was[workload])
    ]


def _of(run: Figures) -> Callable[[str], float]:
    return lambda name: run.get(name, math.nan)
