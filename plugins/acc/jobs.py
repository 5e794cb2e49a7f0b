"""`testbed train acc`: a Q network per workload, and the log that gives them again."""

from __future__ import annotations

from testbed.sdk.jobs import Job, JobContext, JobSet, Result

from ..learned import job
from .reward import reward
from .settings import Settings
from .training import Progress
from .training import train as trained_on


def run(settings: Settings, context: JobContext) -> Result:
    """Train, measure in the model, write."""

    def train(wanted: job.Wanted, tell: job.Tell) -> job.Trained:
        def report(progress: Progress) -> None:
            text = f"{wanted.name}, slot {progress.slot}: reward {progress.reward:.3f}, explores {progress.explore:.2f}"
            tell(progress.slot, text)

        outcome = trained_on(settings, wanted.workload, report)
        return job.Trained(outcome.network, outcome.history, {"switch": outcome.switch})

    policies = [job.Wanted(workload) for workload in settings.workloads]
    return job.run("acc", settings, context, policies=policies, slots=settings.slots, train=train, reward=reward)


JOBS = JobSet({"train": Job("Train ACC's networks in the fluid model.", Settings, run)})
