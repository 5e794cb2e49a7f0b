"""From a request to a folder with a plan: a new one, or the one that was begun there."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import testbed
from testbed.errors import BadInput
from testbed.experiment.load import load
from testbed.results import folder as results
from testbed.results.sweep_plan import Cell, Plan, Until
from testbed.results.trust import Guard
from testbed.runs.sweep.grid import Combination, Request, cells
from testbed.runs.sweep.repeats import fewest

LEAST, MOST = 50.0, 99.9  # of a confidence, %


def until(confidence: float | None, within: float | None) -> Until | None:
    """What ``--confidence`` and ``--within`` ask for, both in %. Raises BadInput."""
    if confidence is None:
        if within is not None:
            raise BadInput("--within: of which intervals? Say --confidence 95 with it")
        return None
    if not LEAST <= confidence <= MOST:
        raise BadInput(f"--confidence {confidence:g}: expected {LEAST:g} to {MOST:g}, in per cent")
    if within is not None and not 0 < within < 100:
        raise BadInput(f"--within {within:g}: expected per cent of the median, above 0 and below 100")
    return Until(confidence=confidence, within=within)


def planned(request: Request, order_seed: int, command_line: Sequence[str], wanted: Until | None = None) -> Plan:
    """Every cell resolved and checked. Raises BadInput."""
    if wanted:
        request = replace(request, repeat=max(request.repeat, fewest(wanted.confidence)))
    return Plan.make(cells(request), order_seed, command_line, wanted)


def place(out: Path | None, plan: Plan) -> tuple[Path, Plan]:
    """Where the sweep goes, and its plan: a folder in which the same one was begun goes on. Raises BadInput."""
    if out is not None and Plan.is_in(out.expanduser()):
        folder = out.expanduser().resolve()
        begun = Plan.load(folder)
        _same(folder, begun.as_begun, plan)
        return folder, begun
    name = str(plan.cells[0].experiment["name"])
    folder = results.prepare(out, f"{name}-sweep")
    plan.write(folder)
    return folder, plan


def begun(folder: Path, *, trusted: bool) -> tuple[Path, Plan]:
    """For ``--resume``: the plan of a folder, if what it was made of is still the same. Raises BadInput."""
    folder = folder.expanduser().resolve()
    if not folder.is_dir():
        raise BadInput(f"no sweep at {folder}")
    plan = Plan.load(folder)
    try:
        with contextlib.chdir(plan.directory):
            again = [_again(folder, cell, trusted) for cell in plan.cells]
    except OSError as error:
        raise BadInput(f"the sweep in {folder} was begun in {plan.directory}: {error.strerror}") from None
    _same(folder, plan, plan.model_copy(update={"cells": again, "testbed": testbed.__version__}))
    return folder, plan


def _again(folder: Path, cell: Cell, trusted: bool) -> Cell:
    guard = Guard(f"the sweep in {folder}", folder, frozenset(cell.code.values()), trusted=trusted)
    resolved = Combination(cell.plugins, cell.settings).resolve(replace(load(cell.source), admit=guard.admit))
    return Cell.of(resolved, cell.source, cell.plugins, cell.settings, cell.seed).model_copy(update={"name": cell.name})


def _same(folder: Path, was: Plan, now: Plan) -> None:
    difference = was.difference(now)
    if difference:
        raise BadInput(
            f"the sweep in {folder} is another one: {difference}; begin this one in another folder, with --out"
        )
