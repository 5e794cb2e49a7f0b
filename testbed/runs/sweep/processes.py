"""Cells in processes of this machine, some at a time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from testbed.errors import TestbedError
from testbed.results import folder as results
from testbed.runs.sweep.forks import Forks
from testbed.runs.sweep.workers import Ended, Job


@dataclass
class Processes:
    """At most ``at_once`` of them."""

    at_once: int
    running: dict[str, tuple[Job, float]] = field(default_factory=dict)  # by cell, and when it began
    forks: Forks | None = None

    @property
    def free(self) -> bool:
        return len(self.running) < self.at_once

    @property
    def busy(self) -> bool:
        return bool(self.running)

    @property
    def doing(self) -> str:
        return " ".join(self.running)

    def start(self, job: Job) -> None:
        name = job.cell.name
        try:
            results.make_folder(job.log.parent)
            job.log.write_bytes(b"")
            results.give_to_caller([job.log])
            self.forks = self.forks or Forks()
        except OSError as error:
            raise TestbedError(f"the cell {name} could not be started: {error}") from None
        self.forks.start(name, job.cell.arguments, job.path, job.log, job.directory)
        self.running[name] = job, time.monotonic()

    def ended(self) -> list[Ended]:
        over = [(*self.running.pop(name), status) for name, status in (self.forks.ended() if self.forks else [])]
        return [Ended(job, status, time.monotonic() - began) for job, began, status in over]

    def interrupt(self) -> None:
        if self.forks:
            self.forks.interrupt()

    def close(self) -> None:
        if self.forks:
            self.forks.close()
