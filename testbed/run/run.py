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

from testbed.agent.build import compile_all
from testbed.capture.files import WHOLE, Capture, Captures
from testbed.capture.point import Point
from testbed.engines.engine import Place, Ready, Stoppable
from testbed.engines.kernel import features
from testbed.engines.kernel.faults.fault import NO_FAULT, Fault
from testbed.engines.kernel.sandbox import Sandbox
from testbed.errors import TestbedError
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Audience
from testbed.live.scene import Scene
from testbed.live.snapshot import Snapshot
from testbed.live.updates import update
from testbed.results import folder, manifest
from testbed.results.record import RunRecord
from testbed.results.summary import Summary, summarise


@dataclass(frozen=True)
class Outcome:
    """A finished run: its summary and where its results are."""

    summary: Summary
    folder: Path
    failure: str = ""  # a plugin's exception that ended it; the data until then is kept


def execute(
    resolved: Resolved,
    out: Path | None,
    audience: Audience,
    points: Sequence[Point] = (),
    snap: int = WHOLE,
    *,
    place: Place | None = None,
) -> Outcome:
    """Run the experiment and write its results, with captures at ``points`` (``snap`` bytes of each packet).

    In a rack, unless another ``place`` is given. Raises TestbedError; Ctrl-C ends the run early and keeps the data.
    """
    place = place or InRack()
    target = folder.prepare(out, f"{resolved.experiment.name}-{resolved.controller.name}")
    place.check(resolved)
    ready = place.ready(resolved, audience)
    resolved, experiment = ready.resolved, ready.resolved.experiment
    about = manifest.describe(
        experiment=resolved.as_dict(),
        command_line=sys.argv,
        seed=experiment.seed,
        inputs=resolved.inputs(tuned=ready.tuned),
        controller=resolved.controller,
        tuner=resolved.tuner if ready.tuned else None,
        kernel_features=ready.features,
        speed=ready.speed,
    )
    captures = Captures(points, target, snap)
    with _ctrl_c_keeps_the_data() as running:
        record = place.follow(ready, audience, running, target.name, captures.all)
        tuner = resolved.tuner.name if ready.tuned else ""
        summary = summarise(
            record, judge(record), experiment=experiment.name, controller=resolved.controller.name, tuner=tuner
        )
        audience.stage("writing results")
        written = folder.write(target, about, record, summary, captures, report=experiment.record.report)
        for message in captures.messages(record.captures):
            audience.stage(message)
        audience.ends(summary, written)
    failure = record.interrupted if record.interrupted not in ("", CTRL_C) else ""
    return Outcome(summary, written, failure)


class InRack:
    """On this machine, in a rack of namespaces."""

    def check(self, resolved: Resolved) -> None:
        """Whether the kernel can do what the experiment insists on."""
        use_netem(resolved)
        forwarding_by(resolved)
        check_gates(resolved)

    def ready(self, resolved: Resolved, audience: Audience) -> Ready:
        """Compile the data plane; measure this machine if the dilation is left to it."""
        from testbed.engines.kernel import speed  # which makes runs of its own

        compile_all()
        settled = speed.settle(resolved, audience)
        features = {
            "delay_by": "netem" if use_netem(resolved) else "delay-line",
            "shaper": "tbf",
            "forwarding": forwarding_by(resolved),
        }
        return Ready(settled.resolved, features, settled.as_dict())

    def follow(
        self, ready: Ready, audience: Audience, running: list[Stoppable], name: str, captures: Sequence[Capture]
    ) -> RunRecord:
        """One run in a sandbox of its own."""
        netem = use_netem(ready.resolved)
        return follow(ready.resolved, netem, audience, running=running, name=name, captures=captures)


CTRL_C = "Ctrl-C"


def use_netem(resolved: Resolved) -> bool:
    """netem where the kernel has it, else the delay line, unless the experiment insists. Raises TestbedError."""
    rack = resolved.experiment.rack
    asked = rack.delay_by
    if asked == "delay-line" or (rack.kind != "star" and rack.switch.pfc):
        return False
    reason = features.ask()["netem"]
    if asked == "netem" and reason:
        raise TestbedError(
            f"rack.delay_by: netem was asked for, but {reason}; load sch_netem, or use 'auto' or 'delay-line'"
        )
    return not reason


def forwarding_by(resolved: Resolved) -> str:
    """Who forwards at the switches. Raises TestbedError if the kernel cannot."""
    asked = resolved.experiment.rack.switch.forwarding
    reason = features.ask()["Open vSwitch"] if asked == "ovs" else ""
    if reason:
        raise TestbedError(
            f"rack.switch.forwarding: ovs was asked for, but {reason}; load the module openvswitch, or use 'bridge'"
        )
    return asked


def check_gates(resolved: Resolved) -> None:
    """Ports between switches can be paused. Raises TestbedError if the kernel cannot hold them."""
    rack = resolved.experiment.rack
    reason = features.ask()["HTB"] if rack.kind != "star" and rack.switch.pfc else ""
    if reason:
        raise TestbedError(
            f"rack.switch.pfc: ports between switches need HTB, but {reason}; load the module sch_htb, or use 'off'"
        )


def follow(
    resolved: Resolved,
    netem: bool,
    audience: Audience,
    fault: Fault = NO_FAULT,
    *,
    running: list[Stoppable] | None = None,
    name: str = "",
    captures: Sequence[Capture] = (),
) -> RunRecord:
    """One run in a sandbox of its own, which is in ``running`` meanwhile; ``name`` is what the audience knows it by."""
    # Before the sandbox is forked, so that the next one has them as well.
    import pyarrow.parquet  # noqa: F401

    import testbed.engines.kernel.emulation  # noqa: F401

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
    from testbed.engines.kernel.emulation import emulate  # which imports mininet: other commands do without

    emulate(resolved, netem, connection, fault, captures)


@contextmanager
def _ctrl_c_keeps_the_data() -> Iterator[list[Stoppable]]:
    """The first Ctrl-C ends the runs in the list and keeps what they have; the second one ends everything."""
    running: list[Stoppable] = []

    def ask(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, previous)
        for one in running:  # there is none when the results are being written: then they still will be
            one.ask_to_stop(CTRL_C)

    previous = signal.signal(signal.SIGINT, ask)
    try:
        yield running
    finally:
        signal.signal(signal.SIGINT, previous)
