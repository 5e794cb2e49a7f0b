"""Jobs from files: GOAL schedules and Chakra execution traces, checked as a whole when they are read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, PrivateAttr, model_validator

from testbed.base.arrays import Ints
from testbed.base.inputs import Input, digest
from testbed.experiment.block import refuse
from testbed.experiment.traffic.jobs import goal_binary
from testbed.experiment.traffic.jobs.goal import Goal
from testbed.experiment.traffic.jobs.goal_binary import GoalBinary
from testbed.experiment.traffic.jobs.job import JobPattern
from testbed.experiment.traffic.jobs.operations_file import Listed
from testbed.experiment.traffic.jobs.traces import Traces
from testbed.experiment.traffic.pattern import Context, Keys
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.tasks import Job
from testbed.units import Time


class FileJob(JobPattern):
    """A job that files describe."""

    _listed: Listed = PrivateAttr()
    _received: Ints = PrivateAttr()
    _inputs: list[Input] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _can_be_carried_out(self) -> Self:
        try:
            self._listed, self._received, self._inputs = self.read()
        except OSError as error:
            refuse("file", f"cannot read {error.filename}: {error.strerror}")
        except ValueError as error:
            refuse("file", str(error))
        return self

    @abstractmethod
    def read(self) -> tuple[Listed, Ints, list[Input]]:
        """The operations, the receive of each send, and the files. Raises OSError, or ValueError with the place."""

    def hosts_needed(self) -> int:
        """One per rank."""
        return self._listed.ranks

    def flow_count(self, _context: Context) -> float:
        """Exactly."""
        return len(self._received)

    def placed(self, hosts: Sequence[str], context: Context) -> Plan:
        """As the file has it."""
        job = Job(self.called, str(self.pattern), tuple(hosts), 1, self.start)  # type: ignore[attr-defined]
        return self._listed.plan(job, self._received, context.servers)

    def inputs(self) -> list[Input]:
        """The files."""
        return self._inputs

    @property
    def blamed(self) -> Keys:
        """The file says all but the start."""
        return Keys("file", "file")


@lru_cache(maxsize=2)  # an experiment is checked again with each option
def _goal(path: Path, _sha256: str, calc: float) -> tuple[Listed, Ints]:
    listed = (GoalBinary if goal_binary.is_one(path) else Goal)(path).read(calc)
    return listed, listed.check()


class GoalFile(FileJob):
    """A schedule in GOAL, the language of LogGOPSim and ATLAHS.

    A send is over when its message has been received; operations of a rank that do not wait for each other are done at
    once, but for computing on one `cpu` (0 where none is said).
    """

    pattern: Literal["goal"] = Field(description="`goal`")
    file: str = Field(description="Path of the GOAL file, text or as txt2bin writes it, relative to this file.")
    calc: Annotated[Time, Field(gt=0)] = Field(default=1e-9, description="Time of `calc 1`; LogGOPSim's unit is 1 ns.")

    def read(self) -> tuple[Listed, Ints, list[Input]]:
        """One file."""
        path = Path(self.file).expanduser()
        sha256 = digest(path.read_bytes())
        form = "a schedule in GOAL, binary" if goal_binary.is_one(path) else "a schedule in GOAL, text"
        return *_goal(path, sha256, self.calc), [Input(key="file", file=path, sha256=sha256, form=form)]


class ChakraTrace(FileJob):
    """Chakra execution traces (MLCommons): NAME.0.et, NAME.1.et, ... of ranks 0, 1, ...

    Computing takes the time that it took; collectives are rings, an all-to-all messages at once.
    """

    pattern: Literal["chakra"] = Field(description="`chakra`")
    file: str = Field(description="`NAME`: path of the traces up to the rank's number, relative to this file.")

    def read(self) -> tuple[Listed, Ints, list[Input]]:
        """A file per rank."""
        prefix = Path(self.file).expanduser()
        files = sorted(prefix.parent.glob(f"{prefix.name}.*.et"), key=_rank_of)
        if not files:
            raise ValueError(f"there is no {prefix}.0.et")
        ranks = [_rank_of(file) for file in files]
        missing = np.setdiff1d(np.arange(max(ranks) + 1), ranks)
        if len(missing):
            raise ValueError(f"{prefix}.{missing[0]}.et is missing: there are ranks up to {max(ranks)}")
        inputs = [Input(key="file", file=file, sha256=digest(file.read_bytes())) for file in files]
        listed = Traces(files).read()
        return listed, listed.check(), inputs


def _rank_of(file: Path) -> int:
    number = file.name.split(".")[-2]
    return int(number) if number.isdecimal() else -1
