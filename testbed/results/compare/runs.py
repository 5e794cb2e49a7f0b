"""From the command's arguments to loaded runs: results folders, sweeps, or folders that hold results folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.errors import BadInput
from testbed.results import folder
from testbed.results.compare.curves import Curves, curves
from testbed.results.manifest import Manifest
from testbed.results.summary import Summary
from testbed.results.sweep_plan import Plan

ANY_OF = (folder.MANIFEST, folder.SUMMARY, "flows.parquet")  # one of them: this was meant to be a results folder


@dataclass(frozen=True)
class Run:
    """One run that takes part. A reference is one that others are compared with: from ``--baseline FOLDER``."""

    folder: Path
    manifest: Manifest
    summary: Summary
    reference: bool = False
    curves: Curves | None = None

    @property
    def clean(self) -> bool:
        """Whether its verdict is."""
        return self.summary.verdict.word == "clean"


def load(paths: Sequence[Path], *, with_curves: bool, reference: bool = False) -> list[Run]:
    """All runs of the arguments, each once. Raises BadInput for what is none, is cut short, or of another version."""
    found = dict.fromkeys(run.resolve() for path in paths for run in _folders(path.expanduser()))
    return [_load(run, with_curves, reference) for run in found]


def missing(paths: Sequence[Path]) -> list[str]:
    """What a reader must know of sweeps that are not finished."""
    told = []
    for path in (each.expanduser() for each in paths):
        if Plan.is_in(path):
            cells = Plan.load(path).cells
            absent = [cell.name for cell in cells if not (path / cell.name).is_dir()]
            if absent:
                told.append(f"{len(absent)} of the {len(cells)} cells of {path} have no results: {', '.join(absent)}")
    return told


def _folders(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        raise BadInput(f"no results folder at {path}")
    try:
        inside = sorted(path.iterdir())
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    if Plan.is_in(path):  # in the order of the plan, so that the first one named comes first
        planned = [path / cell.name for cell in Plan.load(path).cells]
        inside = [*(cell for cell in planned if cell in inside), *(other for other in inside if other not in planned)]
    elif _is_run(path):
        yield path
        return
    runs = [one for one in inside if not one.name.startswith(".") and one.is_dir() and _is_run(one)]
    if not runs:
        raise BadInput(f"{path} is not a results folder (it has no {folder.MANIFEST}), nor does it hold any")
    yield from runs


def _is_run(path: Path) -> bool:
    return any((path / name).exists() for name in ANY_OF)


def _load(path: Path, with_curves: bool, reference: bool) -> Run:
    results = folder.load(path)
    drawn = curves(results) if with_curves else None
    return Run(path, results.manifest, results.summary, reference, drawn)
