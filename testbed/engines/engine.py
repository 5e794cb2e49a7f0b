"""What carries the packets of an experiment: the interface of all engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from testbed.capture.files import Capture
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
from testbed.results.record import EngineName, RunRecord


@dataclass(frozen=True)
class Prepared:
    """An experiment that its engine can begin now. ``features`` and ``speed`` are for the manifest."""

    resolved: Resolved
    features: dict[str, Any]
    speed: dict[str, Any] | None = None
    tuned: bool = True  # whether the experiment's tuner decides here


class Stoppable(Protocol):
    """A run that goes on."""

    def ask_to_stop(self, reason: str) -> None:
        """End it early; it reports what it has."""
        ...


class Engine(Protocol):
    """Checks first, then runs."""

    name: EngineName

    def check(self, resolved: Resolved) -> None:
        """Raises BadInput or TestbedError if the experiment cannot be run here; changes nothing."""
        ...

    def prepare(self, resolved: Resolved, observer: Observer) -> Prepared:
        """Prepare what is not part of the run. Raises TestbedError."""
        ...

    def follow(
        self, prepared: Prepared, observer: Observer, running: list[Stoppable], name: str, captures: Sequence[Capture]
    ) -> RunRecord:
        """Run it, to its end or until the run in ``running`` is asked to stop. Leaves nothing behind.

        Raises TestbedError if there is nothing to report.
        """
        ...
