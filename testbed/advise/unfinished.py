"""Means that what has not finished cannot flatter.

Over what finished alone, a switch that starves its slowest flows has fast ones. So a flow counts with the time that it
has taken so far (the restricted mean of survival analysis), and so does the iteration that a job is in, if it has
already taken longer than the others. Quantiles know that by themselves (`testbed.results.figures.censored`).
"""

from __future__ import annotations

import numpy as np

from testbed.results.figures.fct import ELEPHANT, ideal_fct, slowdowns
from testbed.results.record import RunRecord
from testbed.results.summary import Summary


def means(record: RunRecord, summary: Summary) -> dict[str, float]:
    """Of the figures with these names; nan where nothing finished."""
    flows = record.flows
    begun = np.isfinite(flows.size) & (flows.start < record.duration)
    done = np.isfinite(flows.finished)
    times = np.where(done, flows.finished, record.duration) - flows.start
    slowed = slowdowns(times, ideal_fct(record))
    elephants = flows.size > ELEPHANT
    found = {}
    for of, kept in {"": begun, "mice_": begun & ~elephants, "elephants_": begun & elephants}.items():
        known = bool((kept & done).any())
        found[f"fct_{of}mean"] = float(times[kept].mean()) if known else np.nan
        found[f"slowdown_{of}mean"] = float(slowed[kept].mean()) if known else np.nan
    return {**found, "iteration_mean": _iteration(record, summary)}


def _iteration(record: RunRecord, summary: Summary) -> float:
    """Of the first job."""
    if not summary.jobs:
        return np.nan
    job = summary.jobs[0]
    done = job.iterations * job.iteration
    waited = record.duration - record.jobs[0].start - done
    return max(job.iteration, (done + waited) / (job.iterations + 1)) if job.unfinished else job.iteration
