"""The observer that feeds the live server, and the choice of observers for the command line."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.errors import BadInput, TestbedError
from testbed.live.control import Control
from testbed.live.observers import Observer, Observers
from testbed.live.progress import Progress
from testbed.live.scene import Scene
from testbed.live.snapshot import Snapshot
from testbed.live.updates import Update
from testbed.results.report import table
from testbed.results.summary import Summary

if TYPE_CHECKING:
    from testbed.live.server import LiveServer


class Broadcast(Observer):
    """Publishes events and keeps the exporter up to date."""

    def __init__(self, server: LiveServer) -> None:
        self.server = server
        self.descriptors = (server.fileno(),)

    def on_fork(self) -> None:
        self.server.start()

    def on_stage(self, text: str) -> None:
        self.server.publish("stage", {"text": text})

    def on_begin(self, scene: Scene) -> None:
        self.server.exporter.scene = scene
        self.server.publish("scene", scene.as_dict() | {"editable": self.server.edits is not None})

    def on_progress(self, now: Snapshot, changes: Update) -> None:
        self.server.exporter.snapshot = now
        self.server.publish("update", changes)

    def on_end(self, summary: Summary, folder: Path) -> None:
        result = {
            "verdict": summary.verdict.word,
            "reasons": [str(reason) for reason in summary.verdict.reasons],
            "figures": table.figures(summary).plain(),
            "notes": table.notes(summary),
            "time": summary.duration,
            "folder": str(folder),
        }
        self.server.publish("end", result)

    def on_failure(self, why: str) -> None:
        result = {"verdict": "failed", "reasons": [why], "figures": [], "notes": [], "time": None, "folder": None}
        self.server.publish("end", result)


@contextmanager
def observer(address: str | None, ui: bool, allow_edits: bool = False) -> Iterator[Observer]:
    """The terminal and, unless the address is "none", a live server, which takes edits if they are allowed.

    Raises BadInput if it cannot listen.
    """
    if allow_edits and not ui:
        raise BadInput("--allow-edits is of the live page: say --ui as well, or use 'testbed set', which always can")
    if ui and address == "none":
        raise BadInput("--ui needs an address: leave out --metrics-addr none")
    progress, control = Progress(), Control()
    if address == "none":
        yield Observers([progress, control])
        return
    from testbed.live.server import Edits, listen  # which imports what only it needs: HTTP, Prometheus

    server = listen(address)
    broadcast = Broadcast(server)
    if ui:
        from testbed.live import page

        server.page = page.page()
        if allow_edits:
            server.edits = Edits(secrets.token_urlsafe(12), control.edit)
        progress.on_stage(f"live page: {server.url}{f'/#{server.edits.token}' if server.edits else ''}")
    else:
        progress.on_stage(f"metrics: {server.url}/metrics")
    try:
        yield Observers([progress, control, broadcast])
    except TestbedError as error:
        broadcast.on_failure(str(error))
        raise
    finally:
        server.close()
