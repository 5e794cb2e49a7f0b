"""Runs the cells of a plan that have no results yet, on whatever workers there are.

What is finished stays: a cell's folder gets its name when it is complete, and a cell that failed or was ended early
goes to ``unfinished/``, so that the same command starts it again. What the cells said is in ``logs/``.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Literal

from testbed.base.interrupt import on_ctrl_c
from testbed.errors import BadInput, TestbedError
from testbed.results import folder as results
from testbed.results.sweep_plan import Cell, Plan
from testbed.results.verdict import ENDED_EARLY, Exit
from testbed.runs.sweep.progress import SweepProgress
from testbed.runs.sweep.repeats import more
from testbed.runs.sweep.workers import POLL_SECONDS, Ended, Job, Workers

UNFINISHED, LOGS = "unfinished", "logs"

Word = Literal["clean", "degraded", "failed"]


@dataclass(frozen=True)
class CellOutcome:
    """How a cell ended; ``why`` is empty for a clean one."""

    cell: str
    word: Word
    why: str = ""


@dataclass
class Runner:
    """One sweep in its folder. `run` gives back the outcomes of the plan's cells that have one."""

    folder: Path
    plan: Plan
    workers: Workers
    progress: SweepProgress
    interrupted: bool = False
    outcomes: dict[str, CellOutcome] = field(default_factory=dict)

    def run(self) -> list[CellOutcome]:
        """Everything that is left to do, until it is done or Ctrl-C: then what runs is ended first."""
        waiting = self._left()
        self.progress.start(already=len(self.outcomes))
        with self._ctrl_c():
            try:
                while self.workers.busy or (waiting and not self.interrupted):
                    before = len(waiting)
                    while waiting and self.workers.free and not self.interrupted:
                        self.workers.start(self._job(waiting.pop(0)))
                    if len(waiting) < before:  # told once: a cluster is asked what it does
                        self.progress.running(self.workers.doing, self.workers.at_once)
                    time.sleep(POLL_SECONDS)
                    for one in self.workers.ended():
                        self._take(one)
            finally:
                self.progress.finish()
        return [self.outcomes[cell.name] for cell in self.plan.cells if cell.name in self.outcomes]

    def _left(self) -> list[Cell]:
        """The cells with no results yet, in the plan's order; the others have their outcome afterwards."""
        left = []
        for cell in self.plan.in_order:
            outcome = self._there(cell)
            if outcome is None:
                left.append(cell)
            else:
                self.outcomes[cell.name] = outcome
                self.progress.finished(cell, None, outcome.word)
        return left

    def _there(self, cell: Cell) -> CellOutcome | None:
        """The outcome of a cell that has its results; what is not whole is put aside. BadInput for another's."""
        path = self.folder / cell.name
        if not os.path.lexists(path) or (path.is_dir() and not any(path.iterdir())):
            return None
        try:
            found = results.load(path)
        except BadInput as error:
            self.progress.bar.say(f"{error}; {self._put_aside(cell)}, and will be run again")
            return None
        if not cell.matches(found.manifest):
            raise BadInput(f"{path} holds another run than the sweep's cell of that name; move it away")
        verdict = found.summary.verdict
        if any(reason.what == ENDED_EARLY for reason in verdict.reasons):
            self.progress.bar.say(f"{cell.name} was ended early; {self._put_aside(cell)}, and will be run again")
            return None
        return CellOutcome(cell.name, verdict.word, "; also ".join(map(str, verdict.reasons)))

    def _job(self, cell: Cell) -> Job:
        return Job(cell, self.folder / cell.name, self.folder / LOGS / f"{cell.name}.txt", self.plan.directory)

    def _take(self, one: Ended) -> None:
        cell, outcome = one.job.cell, self._outcome(one)
        if outcome is not None:  # None: ended early, as if it had not been started
            self.outcomes[cell.name] = outcome
            self.progress.finished(cell, one.seconds, outcome.word)

    def _outcome(self, one: Ended) -> CellOutcome | None:
        cell, log = one.job.cell, one.job.log
        if one.status in (Exit.CLEAN, Exit.DEGRADED):
            there = self._there(cell)
            if there is not None or self.interrupted:
                return there
        elif self.interrupted:
            return None
        why = last_words(log) or f"it ended with exit code {one.status}, see {log}"
        if one.job.path.exists():
            self._put_aside(cell)
        return CellOutcome(cell.name, "failed", why)

    def _put_aside(self, cell: Cell) -> str:
        """Nothing is lost: what is not whole goes out of the way. Says where it is."""
        aside = self.folder / UNFINISHED
        try:
            results.make_folder(aside)
            names = itertools.chain([cell.name], (f"{cell.name}-{number}" for number in itertools.count(2)))
            target = next(aside / name for name in names if not os.path.lexists(aside / name))
            (self.folder / cell.name).rename(target)
        except OSError as error:
            raise TestbedError(f"{self.folder / cell.name} could not be put aside: {error.strerror}") from None
        return f"it is kept in {target.relative_to(self.folder)}"

    @contextmanager
    def _ctrl_c(self) -> Iterator[None]:
        """Every Ctrl-C goes on to what runs: the first ends a run early, the second at once."""

        def ask(_number: int, _frame: FrameType | None) -> None:
            self.interrupted = True
            self.workers.interrupt()

        with on_ctrl_c(ask):
            yield


def last_words(log: Path) -> str:
    """The error message that a process ended with."""
    said = log.read_text(encoding="utf-8", errors="replace")
    _, found, message = said.rpartition("\ntestbed: ")
    if not found and said.startswith("testbed: "):
        found, message = "testbed: ", said.removeprefix("testbed: ")
    return message.strip() if found else ""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else runs the sweep in this folder meanwhile. Raises BadInput if somebody does."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)  # the plan itself is replaced when it gets more repeats
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"the sweep in {folder} is running already") from None
        yield
    finally:
        os.close(held)


@contextmanager
def released(workers: Workers) -> Iterator[None]:
    """They are closed at the end; what Ray has to say of a lost node is no result."""
    with redirect_stdout(sys.stderr), closing(workers):
        yield


def finish(folder: Path, plan: Plan, workers: Workers) -> list[CellOutcome]:
    """Run what is left of a sweep, and the repeats that its intervals need.

    Raises BadInput if somebody does, and TestbedError if Ctrl-C ended it.
    """
    with alone(folder), released(workers):
        wanted: Plan | None = plan
        while wanted is not None:
            plan = wanted
            runner = Runner(folder, plan, workers, SweepProgress(plan.cells))
            outcomes = runner.run()
            if runner.interrupted and len(outcomes) < len(plan.cells):
                raise TestbedError(
                    f"the sweep was ended early with {len(outcomes)} of {len(plan.cells)} cells, which are kept; "
                    f"go on with: testbed sweep --resume {folder}"
                )
            if (wanted := None if runner.interrupted else more(folder, plan)) is not None:
                wanted.write(folder)
    return outcomes
