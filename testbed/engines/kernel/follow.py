"""One run in a sandbox of its own, followed from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from testbed.capture.files import Capture
from testbed.engines.engine import Stoppable
from testbed.engines.kernel.faults.fault import NO_FAULT, Fault
from testbed.engines.kernel.sandbox import Sandbox
from testbed.errors import TestbedError
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
from testbed.live.scene import Scene
from testbed.live.snapshot import Snapshot
from testbed.live.updates import update
from testbed.results.record import RunRecord


def follow(
    resolved: Resolved,
    netem: bool,
    observer: Observer,
    fault: Fault = NO_FAULT,
    *,
    running: list[Stoppable] | None = None,
    name: str = "",
    captures: Sequence[Capture] = (),
) -> RunRecord:
    """One run in a sandbox of its own, which is in ``running`` meanwhile; ``name`` identifies it to the observer."""
    # Before the sandbox is forked, so that the next one has them as well.
    import pyarrow.parquet  # noqa: F401

    import testbed.engines.kernel.emulation  # noqa: F401

    running = [] if running is None else running
    sandbox = Sandbox(
        partial(_work, resolved, netem, fault, captures=captures, name=name), without=observer.descriptors
    )
    running.append(sandbox)
    observer.on_fork()
    scene: Scene | None = None
    before: Snapshot | None = None
    record: RunRecord | None = None
    try:
        for kind, content in sandbox.messages():
            if kind == "stage":
                observer.on_stage(content)
            elif kind == "begin":
                scene = replace(content, run=name)
                observer.on_begin(scene)
            elif kind == "snapshot":
                if scene and before:
                    observer.on_progress(content, update(scene, before, content))
                before = content
            elif kind == "record":
                record = content
    finally:
        sandbox.kill()
        running.clear()
        observer.on_stop()
    if record is None:
        raise TestbedError("the run ended without a record")
    return record


def _work(  # type: ignore[no-untyped-def]
    resolved: Resolved, netem: bool, fault: Fault, connection, *, captures: Sequence[Capture], name: str
) -> None:
    from testbed.engines.kernel.emulation import emulate  # which imports mininet: other commands do without

    emulate(resolved, netem, connection, fault, captures=captures, name=name)
