"""What is to get better: figures with weights, and by how much one run is better than another of the same draw.

The gain of a run over another is the weighted mean of ln(was / is), so that twice as good in one figure is worth as
much as in any other, and a figure's unit does not matter. It is shown as a share: 10 % is a tenth less time or queue.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from testbed.errors import BadInput, nearest
from testbed.results.figures.registry import Direction
from testbed.results.summary import FIGURES

Figures = Mapping[str, float]

# Less is better, and no comparison weighs them: pauses may be what keeps packets.
LESS = ("pause_frames", "paused", "paused_in_run", "paused_port_in_run")
# Where a figure may be 0, what counts as next to nothing; SI.
FLOORS = {"s": 50e-9, "%": 0.01, "packets": 1.0, "frames": 1.0, "B": 100.0, "bit/s": 1e6, "": 1e-4}
USUAL = ("iteration_mean", "slowdown_p99", "ql_p99")  # the first that a workload has
NUMBERS = [name for name, one in FIGURES.items() if one.better or name in LESS]
TERM = re.compile(r"\s*(?:([\d.]+)\s*\*\s*)?(\w+)\s*")


def better(name: str) -> Direction:
    """In which direction a figure is better."""
    return "lower" if name in LESS else FIGURES[name].better


@dataclass(frozen=True)
class Objective:
    """Weights by figure; the figures of a run that a workload does not have do not count there."""

    weights: Mapping[str, float]

    @classmethod
    def read(cls, text: str) -> Objective:
        """Of ``iteration_mean, 2*slowdown_p99``. Raises BadInput."""
        weights: dict[str, float] = {}
        for term in text.split(","):
            match = TERM.fullmatch(term)
            if match is None:
                raise BadInput(f"--objective {text}: '{term.strip()}': expected FIGURE or WEIGHT*FIGURE")
            if match[2] not in NUMBERS:
                raise BadInput(f"--objective {text}: no figure is named '{match[2]}'; {nearest(match[2], NUMBERS)}")
            try:
                weight = float(match[1] or 1)
            except ValueError:
                weight = 0.0
            if not weight > 0 or match[2] in weights:
                raise BadInput(f"--objective {text}: '{match[2]}': expected once, with a weight above 0")
            weights[match[2]] = weight
        return cls(weights)

    def known(self, runs: Sequence[Figures]) -> list[str]:
        """The figures that all of these runs have."""
        return [name for name in self.weights if all(math.isfinite(run.get(name, math.nan)) for run in runs)]

    def gain(self, now: Figures, was: Figures, names: Sequence[str]) -> float:
        """Of one run over another of the same draw, by these figures; nan if the run lacks one of them."""
        total = sum(self.weights[name] for name in names)
        return sum(self.weights[name] * _gain(name, now.get(name, math.nan), was[name]) for name in names) / total


def _gain(name: str, now: float, was: float) -> float:
    floor = FLOORS.get(FIGURES[name].unit, 0.0)
    lower = math.log((was + floor) / (now + floor)) if now + floor > 0 < was + floor else math.nan
    return lower if better(name) == "lower" else -lower


def share(gain: float) -> float:
    """Of a logarithm: how much less there is of what is to be little."""
    return 1 - math.exp(-gain)
