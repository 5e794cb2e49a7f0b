"""One run, from start to end: check, prepare, follow it on its engine, write the results."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from testbed.base.interrupt import on_ctrl_c
from testbed.capture.files import WHOLE, Captures
from testbed.capture.point import Point
from testbed.engines.engine import Engine, Stoppable
from testbed.errors import TestbedError
from testbed.experiment.resolved import Resolved
from testbed.fidelity.verdict import judge
from testbed.live.observers import Observer
from testbed.results import brought, folder, manifest, trace
from testbed.results.manifest import Manifest
from testbed.results.record import RunRecord
from testbed.results.summary import Summary, summarise

log = logging.getLogger(__package__)


@dataclass(frozen=True)
class RunOutcome:
    """A finished run: its summary and where its results are."""

    summary: Summary
    folder: Path
    failure: str = ""  # a plugin's exception that ended it; the data until then is kept


def execute(
    engine: Engine,
    resolved: Resolved,
    out: Path | None,
    observer: Observer,
    *,
    points: Sequence[Point] = (),
    snap: int = WHOLE,
    alone: Mapping[str, float] | None = None,
) -> RunOutcome:
    """Run the experiment and write its results, with captures at ``points`` (``snap`` bytes of each packet).

    ``alone``: s that an iteration of each job takes without the others.
    Raises TestbedError; Ctrl-C ends the run early and keeps the data.
    """
    target = folder.prepare(out, f"{resolved.experiment.name}-{resolved.title.replace(' + ', '-')}")
    engine.check(resolved)
    if resolved.experiment.record.decisions:
        trace.ROWS.compiled()  # writes them: without a compiler nothing shall be built, rolled out or lost
    prepared = engine.prepare(resolved, observer)
    resolved, experiment = prepared.resolved, prepared.resolved.experiment
    log.info("engine prepared", extra={"engine": type(engine).__name__, **prepared.features})
    inputs = resolved.inputs(tuned=prepared.tuned)
    files = brought.brought(resolved, inputs)
    about = manifest.describe(
        engine=engine.name,
        experiment=resolved.as_dict(),
        command_line=sys.argv,
        seed=experiment.seed,
        inputs=inputs,
        files=brought.names([*files]),
        controller=resolved.controller,
        controllers=[one.plugin for one in resolved.others],
        tuner=resolved.tuner if prepared.tuned else None,
        kernel_features=prepared.features,
        speed=prepared.speed,
    )
    captures = Captures(points, target, snap)
    with ctrl_c_keeps_the_data() as running:
        record = engine.follow(prepared, observer, running, target.name, captures.all)
        about = about.with_edits(record.edits)
        record.alone = dict(alone or {})
        tuner = resolved.tuner.name if prepared.tuned else ""
        summary = summarise(record, judge(record), experiment=experiment.name, controller=resolved.title, tuner=tuner)
        observer.on_stage("writing results")
        add: list[Callable[[Path], None]] = [lambda run: brought.keep(run, files), captures.keep]
        written, trouble = _write(target, about, record, summary, add, report=experiment.record.report)
        for message in captures.messages(record.captures):
            observer.on_stage(message)
        if trouble:
            raise TestbedError(f"the results are in {written}, but their report failed: {trouble}")
        log.info("results written", extra={"folder": written, "verdict": summary.verdict.word})
        observer.on_end(summary, written)
    failure = record.interrupted if record.interrupted not in ("", CTRL_C) else ""
    return RunOutcome(summary, written, failure)


def _write(
    target: Path,
    about: Manifest,
    record: RunRecord,
    summary: Summary,
    add: Sequence[Callable[[Path], None]],
    *,
    report: bool,
) -> tuple[Path, str]:
    """The results folder, and why there is no report: what was measured must not be lost."""
    trouble: list[str] = []

    def add_report(unfinished: Path) -> None:
        from testbed.results.report import build

        trouble.append(build.add_report(unfinished))

    last = add_report if report else None
    return folder.write(target, about, record, summary, add=add, last=last), "".join(trouble)


CTRL_C = "Ctrl-C"


@contextmanager
def ctrl_c_keeps_the_data() -> Iterator[list[Stoppable]]:
    """The first Ctrl-C ends the runs in the list and keeps what they have; the second one ends everything."""
    running: list[Stoppable] = []

    def ask(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, previous)
        for one in running:  # there is none when the results are being written: then they still will be
            one.ask_to_stop(CTRL_C)

    previous = signal.getsignal(signal.SIGINT)
    with on_ctrl_c(ask):
        yield running
