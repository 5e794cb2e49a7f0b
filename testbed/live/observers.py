"""Observers of a run: the terminal, the clients of the live server, or none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from testbed.live.edit import Editable, Edited
from testbed.live.scene import Scene
from testbed.live.snapshot import Snapshot
from testbed.live.updates import Update
from testbed.results.summary import Summary


class Observer:
    """Is called during a run, in this order; does nothing. Subclasses override the methods they need."""

    descriptors: Sequence[int] = ()
    """Open files that the sandbox must not inherit."""

    def on_stage(self, text: str) -> None:
        """The current step, before and after the run proper."""

    def on_fork(self) -> None:
        """The sandbox has been forked: threads may be started."""

    def on_editable(self, run: Editable) -> None:
        """It takes edits from the moment it begins."""

    def on_begin(self, scene: Scene) -> None:
        """The run proper begins."""

    def on_progress(self, now: Snapshot, changes: Update) -> None:
        """A few times per second of wall time; ``changes`` is what happened since the last time."""

    def on_edited(self, edited: Edited) -> None:
        """What became of an edit."""

    def on_stop(self) -> None:
        """The run proper is over, or failed, whether it began or not."""

    def on_end(self, summary: Summary, folder: Path) -> None:
        """The results are written."""

    def on_failure(self, why: str) -> None:
        """There will be no results."""


class Observers(Observer):
    """Several observers as one."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self.observers = observers
        self.descriptors = [one for observer in observers for one in observer.descriptors]

    def on_stage(self, text: str) -> None:
        for one in self.observers:
            one.on_stage(text)

    def on_fork(self) -> None:
        for one in self.observers:
            one.on_fork()

    def on_editable(self, run: Editable) -> None:
        for one in self.observers:
            one.on_editable(run)

    def on_edited(self, edited: Edited) -> None:
        for one in self.observers:
            one.on_edited(edited)

    def on_begin(self, scene: Scene) -> None:
        for one in self.observers:
            one.on_begin(scene)

    def on_progress(self, now: Snapshot, changes: Update) -> None:
        for one in self.observers:
            one.on_progress(now, changes)

    def on_stop(self) -> None:
        for one in self.observers:
            one.on_stop()

    def on_end(self, summary: Summary, folder: Path) -> None:
        for one in self.observers:
            one.on_end(summary, folder)

    def on_failure(self, why: str) -> None:
        for one in self.observers:
            one.on_failure(why)
