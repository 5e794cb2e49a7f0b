"""Runs of the fluid engine in this process, without a results folder."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.engines.fluid.engine import FluidEngine
from testbed.fidelity.verdict import judge
from testbed.live.observers import Observer
from testbed.results.record import RunRecord
from testbed.results.summary import Summary, summarise
from testbed.runs.overrides import resolve


def modelled(
    experiment: str, settings: Sequence[str] = (), *, controller: str = "", observer: Observer | None = None
) -> RunRecord:
    """The record of a run."""
    resolved = resolve(experiment, {"controller": controller}, {}, ["record.decisions=0", *settings])
    engine, observer = FluidEngine(), observer or Observer()
    engine.check(resolved)
    return engine.follow(engine.prepare(resolved, observer), observer, [], "run", [])


def figures(experiment: str, settings: Sequence[str] = (), *, controller: str) -> Summary:
    """What it showed."""
    record = modelled(experiment, settings, controller=controller)
    return summarise(record, judge(record), experiment=experiment, controller=controller)
