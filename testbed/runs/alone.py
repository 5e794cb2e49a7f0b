"""Jobs of an experiment, each run alone on its hosts: what the others cost it."""

from __future__ import annotations

from collections.abc import Callable

from testbed.engines.engine import Engine
from testbed.errors import BadInput
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
from testbed.results.figures.jobs import of_jobs
from testbed.runs.run import ctrl_c_keeps_the_data


def times_alone(
    engine: Engine, resolved: Resolved, alone: Callable[[str], Resolved], observer: Observer
) -> dict[str, float]:
    """Mean time of an iteration of each job, s, by its name. ``alone`` gives the experiment without all other flows.

    Raises BadInput if there is nothing to leave out.
    """
    plan = resolved.layout.plan
    jobs = [job.name for job in plan.tasks.jobs]
    if not jobs or set(plan.label) == {jobs[0]}:
        raise BadInput(
            "--alone compares jobs with themselves without other traffic, and here is nothing else; "
            "several are in the patterns 'jobs' and 'mix'"
        )
    found = {}
    for job in jobs:
        observer.on_stage(f"running {job} alone")
        one = alone(job)
        engine.check(one)
        with ctrl_c_keeps_the_data() as running:
            record = engine.follow(engine.prepare(one, observer), observer, running, f"{job}-alone", [])
        (figures,) = of_jobs(record.steps, record.jobs)
        found[job] = figures.iteration
    return found
