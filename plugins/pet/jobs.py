"""`testbed train pet`: an actor per workload, one more each for the ablation, and the log that gives them again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from testbed.base.arrays import Floats
from testbed.sdk.jobs import Job, JobContext, JobSet, Result
from testbed.tuner import Ports, PortSample

from ..learned import job
from ..learned.tuner import Workload
from .reward import WEIGHTS, reward
from .settings import NOTES, PRESETS, Settings
from .training import Progress, Training


def run(settings: Settings, context: JobContext) -> Result:
    """Train, measure in the model, write."""

    def train(wanted: job.Wanted, tell: job.Tell) -> job.Trained:
        def report(progress: Progress) -> None:
            text = f"{wanted.name}, update {progress.update}: reward {progress.reward:.3f}"
            tell(progress.update * settings.trajectory, text)

        file = context.checkpoints / f"{wanted.name}.pt" if context.checkpoints else None
        outcome = Training(settings, wanted.workload, flows=not wanted.blind).run(report, file)
        return job.Trained(outcome.actor, outcome.history, {"seed": settings.seed})

    def gained(workload: Workload) -> Callable[[PortSample, Ports], Floats]:
        return partial(reward, weights=WEIGHTS[workload])

    policies = [job.Wanted(workload) for workload in settings.workloads]
    policies += [job.Wanted(workload, blind=True) for workload in settings.ablation]
    slots = settings.updates * settings.trajectory
    return job.run("pet", settings, context, policies=policies, slots=slots, train=train, reward=gained)


JOBS = JobSet({"train": Job("Train PET's actors in the fluid model.", Settings, run, PRESETS, NOTES)})
