"""What the network did to jobs: times of their iterations, bandwidths, and who waited for whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from testbed.base.arrays import Floats
from testbed.experiment.traffic.tasks import Job, Kind
from testbed.results.figures.unknown import NULL_IF_UNKNOWN, Number, mean, quantile, ratio
from testbed.results.record import StepTable


@dataclass(frozen=True)
class JobFigures:
    """One job of a run. Times are means over the iterations that every rank has done, s."""

    __pydantic_config__ = NULL_IF_UNKNOWN

    job: str
    kind: str  # the traffic pattern
    ranks: int
    iterations: int  # done by all ranks
    unfinished: int  # the others
    iteration: Number  # from the last rank's end of the one before to the last rank's end
    iteration_p99: Number
    communication: Number  # of an operation: the same, from the end of the last rank's computing
    algorithm_bandwidth: Number  # bit/s: size of an operation / that
    bus_bandwidth: Number  # bit/s: that x a factor by which it can be compared with the line rate, whatever the ranks
    straggler: Number  # slowest rank's time / the median rank's
    exposed: Number  # of a rank's time, what it does not compute
    exposed_share: Number  # %, of its time
    interference: Number  # time of an iteration / that of the job alone; null without `--alone`


@dataclass(frozen=True)
class JobNow:
    """One job while its run goes on, by the iterations that every rank has done so far; nan before the first."""

    iterations: int
    last: float  # s, time of the last one
    straggler: float  # mean, as in `JobFigures`
    bus_bandwidth: float  # bit/s, mean


@dataclass(frozen=True)
class Times:
    """Of one job, shape (iterations, ranks), s: when a rank began, how long it computed, when it had done its part."""

    begin: Floats
    computed: Floats
    ready: Floats  # when the first computing of an iteration was over
    done: Floats  # nan if it was not


def times_of(steps: StepTable, number: int, job: Job) -> Times:
    """From the steps that belong to ranks and iterations."""
    shape = (job.iterations, len(job.hosts))
    begin, ready, done = np.full(shape, np.inf), np.full(shape, np.nan), np.full(shape, np.nan)
    computed = np.zeros(shape)
    computing = (steps.job == number) & (steps.kind == Kind.COMPUTE)
    at = steps.iteration[computing], steps.rank[computing]
    np.minimum.at(begin, at, np.nan_to_num(steps.begin[computing], nan=np.inf))
    np.add.at(computed, at, steps.length[computing])
    first = np.flatnonzero(computing)[steps.begin[computing] == begin[at]]
    ready[steps.iteration[first], steps.rank[first]] = steps.begin[first] + steps.length[first]
    ends = (steps.job == number) & (steps.kind == Kind.DONE)
    done[steps.iteration[ends], steps.rank[ends]] = steps.begin[ends]
    return Times(begin, computed, ready, done)


def of_jobs(steps: StepTable, jobs: list[Job], alone: Mapping[str, float] = MappingProxyType({})) -> list[JobFigures]:
    """Figures of each job, in the order of the experiment. ``alone``: s of an iteration without the others."""
    return [
        _figures(times_of(steps, number, job), job, alone.get(job.name, float("nan")))
        for number, job in enumerate(jobs)
    ]


def jobs_now(steps: StepTable, jobs: Sequence[Job]) -> tuple[JobNow, ...]:
    """Of each job, in the order of the experiment; of ``steps`` only those are known that are over."""
    return tuple(_now(times_of(steps, number, job), job) for number, job in enumerate(jobs))


def _now(times: Times, job: Job) -> JobNow:
    so_far = _figures(times, job, float("nan"))
    ends = times.done[: so_far.iterations].max(axis=1, initial=-np.inf)
    last = float(np.diff(ends, prepend=job.start)[-1]) if len(ends) else float("nan")
    return JobNow(so_far.iterations, last, so_far.straggler, so_far.bus_bandwidth)


def _figures(times: Times, job: Job, alone: float) -> JobFigures:
    """nccl-tests' doc/PERFORMANCE.md defines algorithm and bus bandwidth. Its time is that of the slowest rank too, but
    it does not wait for all ranks between operations.
    """
    whole = np.isfinite(times.done).all(axis=1)
    whole = np.cumprod(whole).astype(bool)  # what follows one that was not done began nowhere
    end = times.done[whole].max(axis=1, initial=-np.inf)
    took = np.diff(end, prepend=job.start)
    ready = times.ready[whole].max(axis=1, initial=-np.inf)
    per_rank = times.done[whole] - times.begin[whole]
    communication = mean(end - ready) if np.isfinite(job.size) else float("nan")
    bandwidth = ratio(8 * job.size, communication)
    exposed = per_rank - times.computed[whole]
    median = np.median(per_rank, axis=1) if len(per_rank) else np.empty(0)
    return JobFigures(
        job=job.name,
        kind=job.kind,
        ranks=len(job.hosts),
        iterations=int(whole.sum()),
        unfinished=job.iterations - int(whole.sum()),
        iteration=mean(took),
        iteration_p99=quantile(took, 0.99),
        communication=communication,
        algorithm_bandwidth=bandwidth,
        bus_bandwidth=bandwidth * job.bus,
        straggler=mean(per_rank.max(axis=1, initial=0.0) / median) if len(per_rank) else float("nan"),
        exposed=mean(exposed),
        exposed_share=100 * ratio(mean(exposed), mean(per_rank)),
        interference=ratio(mean(took), alone),
    )
