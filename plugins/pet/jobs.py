"""`testbed train pet`: an actor per workload, one more each for the ablation, and the log that gives them again.

With ``goal=fct`` one actor for all; with ``--from RUN`` none, but what a run learned."""

from __future__ import annotations

from testbed.sdk.jobs import Job, JobContext, JobSet, Result

from ..learned import job
from . import FCT
from .fct_job import run as fct
from .keep import keep
from .reward import reward
from .settings import NOTES, PRESETS, Settings
from .training import Progress, Training


def run(settings: Settings, context: JobContext) -> Result:
    """Train, measure, write; or keep what a run learned."""
    if settings.from_run:
        return keep(settings.from_run, context)
    if settings.goal == FCT:
        return fct(settings, context)

    def train(wanted: job.Wanted, tell: job.Tell) -> job.Trained:
        def report(progress: Progress) -> None:
            text = f"{wanted.name}, update {progress.update}: reward {progress.reward:.3f}"
            tell(progress.update * settings.trajectory, text)

        file = context.checkpoints / f"{wanted.name}.npz" if context.checkpoints else None
        outcome = Training(settings, wanted.workload, flows=not wanted.blind).run(report, file)
        return job.Trained(outcome.actor, outcome.history, {"seed": settings.seed})

    policies = [job.Wanted(workload) for workload in settings.workloads]
    policies += [job.Wanted(workload, blind=True) for workload in settings.ablation]
    slots = settings.updates * settings.trajectory
    return job.run("pet", settings, context, policies=policies, slots=slots, train=train, reward=reward)


SUMMARY = "Train PET's actors in the fluid model, or one in packets (fct)."
JOBS = JobSet({"train": Job(SUMMARY, Settings, run, PRESETS, NOTES)})
