"""Those who follow a run from outside while it goes on: the terminal, the readers of the live server, or nobody."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from testbed.live.scene import Scene
from testbed.live.snapshot import Snapshot
from testbed.live.updates import Update
from testbed.results.summary import Summary


class Observer:
    """Hears what a run does, in this order; does nothing with it. Subclasses override what they want to hear."""

    descriptors: Sequence[int] = ()
    """Open files that the sandbox must not inherit."""

    def stage(self, text: str) -> None:
        """What is being done, before and after the run proper."""

    def forked(self) -> None:
        """The sandbox is on its way: threads may be started."""

    def begins(self, scene: Scene) -> None:
        """The run proper begins."""

    def goes_on(self, now: Snapshot, told: Update) -> None:
        """A few times per second of wall time; ``told`` is what happened since the last time."""

    def stops(self) -> None:
        """The run proper is over, or failed, whether it began or not."""

    def ends(self, summary: Summary, folder: Path) -> None:
        """The results are written."""

    def fails(self, why: str) -> None:
        """There will be no results."""


class Observers(Observer):
    """Several listeners as one."""

    def __init__(self, listeners: Sequence[Observer]) -> None:
        self.listeners = listeners
        self.descriptors = [one for listener in listeners for one in listener.descriptors]

    def stage(self, text: str) -> None:
        for one in self.listeners:
            one.stage(text)

    def forked(self) -> None:
        for one in self.listeners:
            one.forked()

    def begins(self, scene: Scene) -> None:
        for one in self.listeners:
            one.begins(scene)

    def goes_on(self, now: Snapshot, told: Update) -> None:
        for one in self.listeners:
            one.goes_on(now, told)

    def stops(self) -> None:
        for one in self.listeners:
            one.stops()

    def ends(self, summary: Summary, folder: Path) -> None:
        for one in self.listeners:
            one.ends(summary, folder)

    def fails(self, why: str) -> None:
        for one in self.listeners:
            one.fails(why)
