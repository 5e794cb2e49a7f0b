"""The plan of a sweep, ``sweep.json``: its cells and the order in which they run. Written before the first run.

The order is random, so that a machine that slowly gets warmer or busier is no advantage to one controller; and it is
random within each repeat, so that a sweep that was ended early has run every combination about equally often.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

import testbed
from testbed.base.atomic import atomic_write
from testbed.base.inputs import own
from testbed.errors import BadInput, TestbedError
from testbed.experiment.model import Experiment
from testbed.experiment.resolved import Resolved
from testbed.results import folder as results
from testbed.results.flat import flat
from testbed.results.manifest import Manifest

FILE = "sweep.json"
SCHEMA_VERSION = 1
MOST_CHANGES = 5  # of a cell, that a message lists
# Only for the time that is announced: wall seconds around a run proper, and packets in a wall second without a kernel.
BUILD_SECONDS, BUILD_SECONDS_PER_HOST = 2.5, 0.05
PACKETS_PER_SECOND = 5e5


class Cell(BaseModel):
    """One run of the sweep; its results are in the folder ``name``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    source: str  # name or file of the experiment
    plugins: dict[str, str]
    settings: dict[str, str]
    seed: int
    experiment: dict[str, Any]  # as resolved, with the seed
    code: dict[str, str]  # SHA-256 of the plugins' files, and of those that the experiment names
    seconds: float | None  # wall time that it should take; None for dilation: auto

    @classmethod
    def of(cls, resolved: Resolved, source: str, plugins: dict[str, str], settings: dict[str, str], seed: int) -> Self:
        """The cell of a checked experiment."""
        experiment = resolved.as_dict() | {"seed": seed}
        code = {"controller": resolved.controller.digest, "tuner": resolved.tuner.digest}
        return cls(
            source=source,
            plugins=plugins,
            settings=settings,
            seed=seed,
            experiment=experiment,
            code=code | own(resolved.inputs(), experiment),
            seconds=_expected(resolved.experiment),
        )

    def repeated(self, seed: int) -> Self:
        """The same with another seed."""
        return self.model_copy(update={"seed": seed, "experiment": self.experiment | {"seed": seed}})

    @property
    def in_kernel(self) -> bool:
        """Whether it needs root, and this machine's cores for itself."""
        return bool(self.experiment["engine"] == "kernel")

    @property
    def in_wall_time(self) -> bool:
        """Whether what else this machine does may make it late."""
        return self.in_kernel or bool(self.experiment["engine"] == "live")

    @property
    def arguments(self) -> list[str]:
        """What `testbed run` is told."""
        plugins = [text for kind, name in self.plugins.items() for text in (f"--{kind}", name)]
        settings = [text for key, value in self.settings.items() for text in ("--set", f"{key}={value}")]
        return ["run", self.source, *plugins, *settings, "--seed", str(self.seed)]

    @property
    def identity(self) -> str:
        """Equal for cells that are the same run."""
        return json.dumps([self.experiment, self.code], sort_keys=True)

    def matches(self, manifest: Manifest) -> bool:
        """Whether a results folder is of this cell."""
        experiment = json.loads(json.dumps(manifest.experiment))
        if manifest.speed is not None:  # the number was measured just before that run
            experiment["time"]["dilation"] = "auto"
        code = {"controller": manifest.controller.sha256, "tuner": manifest.tuner.sha256 if manifest.tuner else ""}
        return json.dumps([experiment, code | own(manifest.inputs, experiment)], sort_keys=True) == self.identity


class Until(BaseModel):
    """Repeats are added until intervals of this confidence hold, and reach at most ``within`` from the middle."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    confidence: float = Field(ge=50, le=99.9)  # %
    within: float | None = Field(default=None, gt=0)  # % of the median
    added: int = 0  # the last cells, which the plan had not when it was begun


class Plan(BaseModel):
    """The content of ``sweep.json``: ``cells`` in the order of the options, ``order`` with their names as they run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = SCHEMA_VERSION
    testbed: str = testbed.__version__
    command_line: list[str]
    directory: str  # where the command was given; settings may name files from there
    order_seed: int
    until: Until | None = None
    cells: list[Cell]
    order: list[str]

    @classmethod
    def make(
        cls, cells: Sequence[Cell], order_seed: int, command_line: Sequence[str], until: Until | None = None
    ) -> Self:
        """Draw the order."""
        return cls(
            command_line=list(command_line),
            directory=str(Path.cwd()),
            order_seed=order_seed,
            until=until,
            cells=list(cells),
            order=_shuffled(cells, order_seed),
        )

    def with_more(self, cells: Sequence[Cell]) -> Plan:
        """Repeats that turned out to be needed come last."""
        assert self.until is not None
        until = self.until.model_copy(update={"added": self.until.added + len(cells)})
        more = {"cells": [*self.cells, *cells], "order": [*self.order, *(cell.name for cell in cells)]}
        return self.model_copy(update={"until": until, **more})

    @property
    def as_begun(self) -> Plan:
        """Without those."""
        if self.until is None:
            return self
        kept, until = len(self.cells) - self.until.added, self.until.model_copy(update={"added": 0})
        return self.model_copy(update={"until": until, "cells": self.cells[:kept], "order": self.order[:kept]})

    @property
    def in_order(self) -> list[Cell]:
        """The cells as they run."""
        named = {cell.name: cell for cell in self.cells}
        return [named[name] for name in self.order]

    @property
    def in_kernel(self) -> bool:
        """Whether any cell is."""
        return any(cell.in_kernel for cell in self.cells)

    @property
    def in_wall_time(self) -> bool:
        """Whether any cell can be late."""
        return any(cell.in_wall_time for cell in self.cells)

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Whether a sweep was begun in a folder."""
        return (folder / FILE).is_file()

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises BadInput if there is none, or one that is damaged or of another version."""
        file = folder / FILE
        if not cls.is_in(folder):
            raise BadInput(f"no sweep was begun in {folder}: it has no {FILE}")
        content = results.read_json(file)
        found = content.get("schema_version") if isinstance(content, dict) else None
        if found != SCHEMA_VERSION:
            raise BadInput(f"{file} has schema version {found}, this testbed reads {SCHEMA_VERSION}")
        plan = results.validated(file, cls)
        if sorted(plan.order) != sorted(cell.name for cell in plan.cells) or not all(map(_is_plain, plan.order)):
            raise BadInput(f"{file} is damaged: order: expected each of the cells' names once")
        return plan

    def write(self, folder: Path) -> None:
        """At once, by a rename; makes the folder. Raises TestbedError."""
        try:
            results.make_folder(folder)
            atomic_write(folder / FILE, f"{self.model_dump_json(indent=2)}\n".encode())
            results.give_to_caller([folder / FILE])
        except OSError as error:
            raise TestbedError(f"{folder / FILE} could not be written: {error.strerror}") from None

    def difference(self, other: Plan) -> str:
        """What is different in another plan, in words; empty if it would do the same."""
        if self.testbed != other.testbed:
            return f"it was begun by testbed {self.testbed}, this is {other.testbed}"
        own, others = ({cell.name: cell for cell in plan.cells} for plan in (self, other))
        for name in [*own, *others]:
            if name not in others:
                return f"its cell {name} is not in this one"
            if name not in own:
                return f"it has no cell {name}"
            changed = _changed(own[name], others[name])
            if changed:
                return f"in its cell {name} {changed}"
        if self.until != other.until:
            return "its --confidence or --within is another one"
        return "" if self.order == other.order else f"its order was drawn with --order-seed {self.order_seed}"


def _expected(experiment: Experiment) -> float | None:
    """Wall seconds of a run; None for what is only known when the dilation has been measured."""
    time, build = experiment.time, BUILD_SECONDS + BUILD_SECONDS_PER_HOST * experiment.hosts
    if experiment.engine == "live":
        return BUILD_SECONDS + time.duration * time.factor
    if experiment.engine != "kernel":
        packets = time.duration * experiment.rack.link.rate / (8 * experiment.traffic.payload)
        return BUILD_SECONDS + packets / PACKETS_PER_SECOND
    return None if time.dilation == "auto" else build + time.duration * time.factor


def _shuffled(cells: Sequence[Cell], seed: int) -> list[str]:
    drawn = random.Random(seed)
    order = []
    for repeat in sorted({cell.seed for cell in cells}):
        names = [cell.name for cell in cells if cell.seed == repeat]
        drawn.shuffle(names)
        order += names
    return order


def _is_plain(name: str) -> bool:
    return bool(name) and "/" not in name and not name.startswith(".")


def _changed(was: Cell, now: Cell) -> str:
    before, after = flat(was.experiment), flat(now.experiment)
    changed = [key for key in dict.fromkeys([*before, *after]) if before.get(key) != after.get(key)]
    if changed:
        told = [f"{key} was {before.get(key, 'not there')} and is {after.get(key, 'not there')}" for key in changed]
        return ", ".join(told[:MOST_CHANGES]) + (", ..." if len(told) > MOST_CHANGES else "")
    part = next((part for part in was.code if was.code[part] != now.code.get(part)), "")
    what = f"the code of the {part}" if part in ("controller", "tuner") else part
    return f"{what} was another one" if what else ""
