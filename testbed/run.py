"""One run, from start to end: check, build in a sandbox, follow it, write the results."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType

from testbed import kernel
from testbed.dataplane.build import compile_all
from testbed.errors import TestbedError
from testbed.faults import NO_FAULT, Fault
from testbed.loading import Resolved
from testbed.report import folder, manifest
from testbed.report.summary import Summary, summarise
from testbed.sandbox import Sandbox
from testbed.telemetry.progress import Progress
from testbed.telemetry.record import RunRecord


@dataclass(frozen=True)
class Outcome:
    """A finished run: its summary and where its results are."""

    summary: Summary
    folder: Path
    failure: str = ""  # a plugin's exception that ended it; the data until then is kept


def execute(resolved: Resolved, out: Path | None, progress: Progress) -> Outcome:
    """Run the experiment and write its results. Raises TestbedError; Ctrl-C ends the run early and keeps the data."""
    from testbed import speed  # which makes runs of its own

    target = folder.prepare(out, f"{resolved.experiment.name}-{resolved.controller.name}")
    netem = use_netem(resolved)
    forwarding = forwarding_by(resolved)
    compile_all()
    settled = speed.settle(resolved, progress)
    resolved, experiment = settled.resolved, settled.resolved.experiment
    about = manifest.describe(
        experiment=resolved.as_dict(),
        command_line=sys.argv,
        seed=experiment.seed,
        controller=resolved.controller,
        tuner=resolved.tuner,
        kernel_features={"delay_by": "netem" if netem else "delay-line", "shaper": "tbf", "forwarding": forwarding},
        speed=settled.as_dict(),
    )
    with _ctrl_c_keeps_the_data() as running:
        record = follow(resolved, netem, progress, NO_FAULT, running)
        summary = summarise(
            record, experiment=experiment.name, controller=resolved.controller.name, tuner=resolved.tuner.name
        )
        progress.stage("writing results")
        written = folder.write(target, about, record, summary)
    failure = record.interrupted if record.interrupted not in ("", CTRL_C) else ""
    return Outcome(summary, written, failure)


CTRL_C = "Ctrl-C"


def use_netem(resolved: Resolved) -> bool:
    """netem where the kernel has it, else the delay line, unless the experiment insists. Raises TestbedError."""
    asked = resolved.experiment.rack.delay_by
    if asked == "delay-line":
        return False
    reason = kernel.ask()["netem"]
    if asked == "netem" and reason:
        raise TestbedError(
            f"rack.delay_by: netem was asked for, but {reason}; load sch_netem, or use 'auto' or 'delay-line'"
        )
    return not reason


def forwarding_by(resolved: Resolved) -> str:
    """Who forwards at the switches. Raises TestbedError if the kernel cannot."""
    asked = resolved.experiment.rack.switch.forwarding
    reason = kernel.ask()["Open vSwitch"] if asked == "ovs" else ""
    if reason:
        raise TestbedError(
            f"rack.switch.forwarding: ovs was asked for, but {reason}; load the module openvswitch, or use 'bridge'"
        )
    return asked


def follow(
    resolved: Resolved, netem: bool, progress: Progress, fault: Fault = NO_FAULT, running: list[Sandbox] | None = None
) -> RunRecord:
    """One run in a sandbox of its own, which is in ``running`` meanwhile."""
    running = [] if running is None else running
    experiment = resolved.experiment
    sandbox = Sandbox(partial(_work, resolved, netem, fault))
    running.append(sandbox)
    record: RunRecord | None = None
    try:
        for kind, content in sandbox.messages():
            if kind == "stage":
                progress.stage(content)
            elif kind == "begins":
                progress.start(experiment.time.duration, experiment.time.duration * experiment.time.factor)
            elif kind == "live":
                progress.update(content.now, content.utilisation, content.queue, content.rtt)
            elif kind == "record":
                record = content
    finally:
        sandbox.kill()
        running.clear()
        progress.finish()
    if record is None:
        raise TestbedError("the run ended without a record")
    return record


def _work(resolved: Resolved, netem: bool, fault: Fault, connection) -> None:  # type: ignore[no-untyped-def]
    from testbed.emulate import emulate  # mininet and pyroute2 are needed inside only

    emulate(resolved, netem, connection, fault)


@contextmanager
def _ctrl_c_keeps_the_data() -> Iterator[list[Sandbox]]:
    """The first Ctrl-C ends the sandboxes in the list and keeps what they have; the second one ends everything."""
    running: list[Sandbox] = []

    def ask(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, previous)
        for sandbox in running:  # there is none when the results are being written: then they still will be
            sandbox.ask_to_stop(CTRL_C)

    previous = signal.signal(signal.SIGINT, ask)
    try:
        yield running
    finally:
        signal.signal(signal.SIGINT, previous)
