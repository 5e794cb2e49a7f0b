"""What must hold: ``slowdown_elephants_mean <= 1.03*baseline``, in all workloads or in the one that is named before it.

It is written as a gate of `testbed compare` (`testbed.results.compare.gate`). The medians over the draws are compared,
``baseline`` is the present configuration, and what is not known does not hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from testbed.advise.objective import NUMBERS, Figures
from testbed.errors import BadInput, nearest
from testbed.results.compare.gate import FailCondition, Scope, parse
from testbed.results.compare.median import estimate

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
        """In a workload; a figure that the present configuration does not have there either says nothing."""
        if self.workload not in {"", workload}:
            return True
        if not self.workload and any(math.isnan(_median(was)(name)) for name in self.condition.metrics):
            return True
        return self.condition.holds(Scope(_median(now), _median(was))) is True


def broken(constraints: Sequence[Constraint], now: Runs, was: Runs) -> list[str]:
    """Those that do not hold, each with its workload."""
    return [
        one.text if one.workload or len(now) == 1 else f"{workload}: {one.text}"
        for one in constraints
        for workload in now
        if not one.holds(workload, now[workload], was[workload])
    ]


def _median(runs: Sequence[Figures]) -> Callable[[str], float]:
    return lambda name: estimate([run.get(name, math.nan) for run in runs]).median
