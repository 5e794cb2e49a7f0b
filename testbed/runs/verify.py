"""Repeats a run of the virtual engine and compares what both left, bit by bit."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from testbed.capture.point import points
from testbed.engines.engine import Engine
from testbed.errors import BadInput, TestbedError
from testbed.experiment.resolved import Resolved
from testbed.live.observers import Observer
from testbed.results.manifest import Manifest
from testbed.results.verdict import ENDED_EARLY, Verdict
from testbed.runs.run import CTRL_C, execute
from testbed.runs.same import Difference, first_difference


def require(folder: Path, before: Manifest, changed: Sequence[str]) -> None:
    """Raises BadInput if what the folder holds cannot be repeated to the bit; ``changed`` are options against it."""
    if before.engine != "virtual":
        raise BadInput(
            f"--verify: {folder} is of --engine {before.engine}; only the virtual engine leaves the same bits again"
        )
    if changed:
        raise BadInput(f"--verify repeats a run as it was: leave {', '.join(changed)} out")
    if before.verdict and _ended_by_user(before.verdict):
        raise BadInput(f"--verify: {folder} was ended by {CTRL_C}, at a moment that nothing repeats")


def verify(engine: Engine, folder: Path, before: Manifest, resolved: Resolved, observer: Observer) -> Difference | None:
    """Run it again, captures as well; the first difference, or None. Raises TestbedError."""
    kept = [one for one in before.captures if not one["problem"]]
    record = resolved.experiment.record.model_copy(update={"report": False})  # nobody will see it
    again = replace(resolved, experiment=resolved.experiment.model_copy(update={"record": record}))
    with tempfile.TemporaryDirectory() as scratch:
        outcome = execute(
            engine, again, Path(scratch) / "again", observer,
            points=points([one["point"] for one in kept], resolved.layout.shape),
            **({"snap": kept[0]["snap"]} if kept else {}),
        )  # fmt: skip
        if _ended_by_user(outcome.summary.verdict):
            raise TestbedError(f"{CTRL_C}: nothing is compared")
        return first_difference(folder, outcome.folder)


def _ended_by_user(verdict: Verdict) -> bool:
    return any(one.what == ENDED_EARLY and one.how_much.startswith(CTRL_C) for one in verdict.reasons)
