"""How the process of a run and the one that follows it talk, whatever else the two are."""

from __future__ import annotations

import contextlib
import pickle
import struct
from collections.abc import Iterable
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from testbed.base import denied
from testbed.engines.engine import Stoppable
from testbed.engines.process import RunProcess
from testbed.errors import TestbedError
from testbed.live.observers import Observer
from testbed.live.scene import Scene
from testbed.live.snapshot import Snapshot
from testbed.live.updates import update
from testbed.results.record import RunRecord


def followed(process: RunProcess, observer: Observer, running: list[Stoppable], name: str) -> RunRecord:
    """A run's process to its end, which is in ``running`` meanwhile; it leaves nothing behind."""
    running.append(process)
    observer.on_fork()
    observer.on_editable(process)
    try:
        return observe(process.messages(), observer, name)
    finally:
        process.kill()
        running.clear()
        observer.on_stop()


def observe(messages: Iterable[tuple[str, Any]], observer: Observer, name: str) -> RunRecord:
    """Tell the observer what the run reports until it ends; ``name`` identifies it. Returns its record.

    Messages are ("stage", text), ("begin", Scene), ("snapshot", Snapshot), ("edited", Edited), ("record", RunRecord).
    """
    scene: Scene | None = None
    before: Snapshot | None = None
    record: RunRecord | None = None
    for kind, content in messages:
        if kind == "stage":
            observer.on_stage(content)
        elif kind == "begin":
            scene = replace(content, run=name)
            observer.on_begin(scene)
        elif kind == "snapshot":
            if scene and before:
                observer.on_progress(content, update(scene, before, content))
            before = content
        elif kind == "edited":
            observer.on_edited(content)
        elif kind == "record":
            record = content
    if record is None:
        raise TestbedError("the run ended without a record")
    return record


def send_failure(connection: Connection, error: BaseException) -> None:
    """Report what ended the process of a run."""
    with contextlib.suppress(OSError, pickle.PicklingError, struct.error):
        connection.send(("failed", denied.known(error) or TestbedError(denied.told(error))))
