"""One run, from start to end: check, build in a sandbox, follow it, write the results."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType

from testbed import kernel
from testbed.capture.files import WHOLE, Capture, Captures
from testbed.capture.point import Point
from testbed.dataplane.build import compile_all
from testbed.errors import TestbedError
from testbed.faults import NO_FAULT, Fault
from testbed.loading import Resolved
from testbed.report import folder, manifest
from testbed.report.summary import Summary, summarise
from testbed.sandbox import Sandbox
from testbed.telemetry.audience import Audience
from testbed.telemetry.record import RunRecord
from testbed.telemetry.scene import Scene
from testbed.telemetry.snapshot import Snapshot
from testbed.telemetry.updates import update


@dataclass(frozen=True)
class Outcome:
    """A finished run: its summary and where its results are."""

    summary: Summary
    folder: Path
    failure: str = ""  # a plugin's exception that ended it; the data until then is kept


def execute(
    resolved: Resolved, out: Path | None, audience: Audience, points: Sequence[Point] = (), snap: int = WHOLE
) -> Outcome:
    """Run the experiment and write its results, with captures at ``points`` (``snap`` bytes of each packet).

    Raises TestbedError; Ctrl-C ends the run early and keeps the data.
    """
    from testbed import speed  # which makes runs of its own

    target = folder.prepare(out, f"{resolved.experiment.name}-{resolved.controller.name}")
    netem = use_netem(resolved)
    forwarding = forwarding_by(resolved)
    compile_all()
    settled = speed.settle(resolved, audience)
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
    captures = Captures(points, target, snap)
    with _ctrl_c_keeps_the_data() as running:
        record = follow(resolved, netem, audience, running=running, name=target.name, captures=captures.all)
        summary = summarise(
            record, experiment=experiment.name, controller=resolved.controller.name, tuner=resolved.tuner.name
        )
        audience.stage("writing results")
        written = folder.write(target, about, record, summary, captures)
        for message in captures.messages(record.captures):
            audience.stage(message)
        audience.ends(summary, written)
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
    resolved: Resolved,
    netem: bool,
    audience: Audience,
    fault: Fault = NO_FAULT,
    *,
    running: list[Sandbox] | None = None,
    name: str = "",
    captures: Sequence[Capture] = (),
) -> RunRecord:
    """One run in a sandbox of its own, which is in ``running`` meanwhile; ``name`` is what the audience knows it by."""
    running = [] if running is None else running
    sandbox = Sandbox(partial(_work, resolved, netem, fault, captures), without=audience.descriptors)
    running.append(sandbox)
    audience.forked()
    scene: Scene | None = None
    before: Snapshot | None = None
    record: RunRecord | None = None
    try:
        for kind, content in sandbox.messages():
            if kind == "stage":
                audience.stage(content)
            elif kind == "begins":
                scene = replace(content, run=name)
                audience.begins(scene)
            elif kind == "snapshot":
                if scene and before:
                    audience.goes_on(content, update(scene, before, content))
                before = content
            elif kind == "record":
                record = content
    finally:
        sandbox.kill()
        running.clear()
        audience.stops()
    if record is None:
        raise TestbedError("the run ended without a record")
    return record


def _work(  # type: ignore[no-untyped-def]
    resolved: Resolved, netem: bool, fault: Fault, captures: Sequence[Capture], connection
) -> None:
    from testbed.emulate import emulate  # mininet and pyroute2 are needed inside only

    emulate(resolved, netem, connection, fault, captures)


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
