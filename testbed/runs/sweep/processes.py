"""Cells in processes of this machine, some at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass, field

from testbed.errors import TestbedError
from testbed.results import folder as results
from testbed.runs.sweep.workers import Ended, Job, command


@dataclass
class Running:
    """A cell's process."""

    job: Job
    process: subprocess.Popen[bytes]
    began: float = field(default_factory=time.monotonic)


@dataclass
class Processes:
    """At most ``at_once`` of them."""

    at_once: int
    running: list[Running] = field(default_factory=list)

    @property
    def free(self) -> bool:
        return len(self.running) < self.at_once

    @property
    def busy(self) -> bool:
        return bool(self.running)

    @property
    def doing(self) -> str:
        return " ".join(one.job.cell.name for one in self.running)

    def start(self, job: Job) -> None:
        try:
            results.make_folder(job.log.parent)
            with job.log.open("wb") as said:
                process = subprocess.Popen(
                    command(os.getpid(), job.cell.arguments, job.path),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=said,
                    cwd=job.directory,
                    start_new_session=True,  # a terminal's Ctrl-C is for the sweep, which passes it on
                )
            results.give_to_caller([job.log])
        except OSError as error:
            raise TestbedError(f"the cell {job.cell.name} could not be started: {error}") from None
        self.running.append(Running(job, process))

    def ended(self) -> list[Ended]:
        over = [one for one in self.running if one.process.poll() is not None]
        self.running = [one for one in self.running if one not in over]
        return [Ended(one.job, one.process.returncode, time.monotonic() - one.began) for one in over]

    def interrupt(self) -> None:
        for one in self.running:
            one.process.send_signal(signal.SIGINT)

    def close(self) -> None:
        for one in self.running:
            one.process.kill()
            one.process.wait()
