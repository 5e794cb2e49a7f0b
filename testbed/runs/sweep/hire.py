"""The workers that a command asked for."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from testbed.errors import BadInput
from testbed.results.sweep_plan import Plan
from testbed.runs.sweep.processes import Processes
from testbed.runs.sweep.workers import Workers


@dataclass(frozen=True)
class Wanted:
    """``--jobs`` and ``--on``: some processes of this machine, or a cluster, which has its own idea of how many."""

    jobs: int | None = None
    on: str | None = None

    def __post_init__(self) -> None:
        """Raises BadInput for both."""
        if self.on and self.jobs:
            raise BadInput("--jobs: how many cells run at the same time on a cluster is for Ray to say; leave it out")

    def hire(self, plan: Plan) -> Workers:
        """Raises BadInput or TestbedError if they are not to be had, or lack what the cells need."""
        if self.on:
            from testbed.runs.sweep.cluster import Cluster

            return Cluster(self.on, plan)
        if plan.in_kernel:
            from testbed.engines.kernel import doctor

            doctor.require()
        if (self.jobs or 1) > 1 and plan.in_wall_time:
            print(
                f"warning: {self.jobs} runs at a time share the cores of this machine; one that could not keep up is "
                "'degraded'",
                file=sys.stderr,
            )
        return Processes(self.jobs or 1)
