"""The load that the traffic of an experiment offers, before anything is run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from testbed.experiment.model import Experiment
from testbed.units import show_size


@dataclass(frozen=True)
class Offered:
    """Flows and their user data."""

    flows: int
    endless: int  # of them
    waiting: int  # of them, start when others have finished: not within a given time
    bytes: float  # of all flows with a size
    mean_size: float  # bytes, of these; nan if there are none
    load: float  # these bytes over what all hosts could send in time.duration at line rate
    notes: tuple[str, ...]

    @classmethod
    def of(cls, experiment: Experiment) -> Offered:
        """Counted from the flows themselves."""
        plan, context = experiment.plan, experiment.context
        sized = plan.size[np.isfinite(plan.size)]
        capacity = context.hosts * context.line_rate * context.end / 8
        return cls(
            flows=len(plan),
            endless=len(plan) - len(sized),
            waiting=int(plan.waits.sum()),
            bytes=float(sized.sum()),
            mean_size=float(sized.mean()) if len(sized) else float("nan"),
            load=float(sized.sum()) / capacity,
            notes=tuple(experiment.traffic.notes()),
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"mean_size": self.mean_size if self.mean_size == self.mean_size else None}

    def __str__(self) -> str:
        parts = [f"{self.flows:,} flows"]
        if self.endless:
            parts.append(f"{self.endless:,} of them endless" if self.endless < self.flows else "all endless")
        if self.bytes:
            load = "" if self.waiting else f", {self.load:.1%} of what all hosts can send in time.duration"
            parts.append(f"{show_size(self.bytes)} in flows of {show_size(self.mean_size)} on average{load}")
        if self.waiting:
            parts.append(f"{self.waiting:,} flows start when others have finished")
        return "; ".join((*parts, *self.notes))
