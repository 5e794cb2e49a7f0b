"""`testbed.run`, `load`, `sweep` and `compare`: what the command line does, in Python (docs/reference/python.md).

All of them raise `testbed.BadInput` before anything is built, and `testbed.TestbedError` while something runs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from testbed.errors import BadInput, TestbedError
from testbed.live.observers import Observer
from testbed.results import folder as results
from testbed.results import packed
from testbed.results.compare import gather
from testbed.results.compare.comparison import Comparison
from testbed.results.compare.table import footnotes, table
from testbed.results.opened import Run
from testbed.runs.carrier import carrier
from testbed.runs.overrides import from_user, overridden, tell
from testbed.runs.own_class import spec
from testbed.runs.plan import plan
from testbed.runs.rerun import Result
from testbed.runs.sweep import prepare
from testbed.runs.sweep.grid import Request
from testbed.runs.sweep.hire import Wanted
from testbed.runs.sweep.runner import CellOutcome, finish

Plugin = str | Path | type
"""A name from `testbed list`, a path such as ``./my_cc.py``, or a class, also one of the notebook."""

ORDER_SEED = 1


def run(
    experiment: str | Path,
    *,
    controller: Plugin | None = None,
    tuner: Plugin | None = None,
    engine: str | None = None,
    settings: Mapping[str, Any] | None = None,
    duration: str | None = None,
    until_rest: str | None = None,
    dilation: str | float | None = None,
    seed: int | None = None,
    pcap: Sequence[str] = (),
    snap: str = "",
    out: str | Path | None = None,
    observer: Observer | None = None,
    trust: bool = False,
) -> Run:
    """Run an experiment: its name, a file, or a result (folder, report.html) to run again. What is None is as it says.

    ``settings`` are keys of the experiment file, ``{"traffic.senders": 8}``; ``duration`` is nominal, ``"10 ms"``;
    ``until_rest="200 ms"`` goes on until the window is at rest, at most so long.
    The results go to ``out``, by default a new folder in ./results. ``observer`` is told of the progress
    (`testbed.live.progress.Progress` draws a bar). ``trust`` lets plugins of a result run that are neither installed
    nor files of yours. Raises BadInput, or TestbedError if the run fails; Ctrl-C ends it early and keeps the data.
    """
    path = Path(experiment).expanduser()
    again = (path / results.MANIFEST).is_file() or path.suffix == ".html"
    loaded = Result.at(path, trusted=trust).loaded() if again else from_user(str(experiment))
    plugins = {"controller": controller, "tuner": tuner}
    options = {"time.duration": duration, "time.until_rest": until_rest, "time.dilation": dilation}
    options |= {"seed": seed, "engine": engine}
    resolved = overridden(
        loaded,
        {kind: spec(kind, one) for kind, one in plugins.items() if one is not None},
        {key: str(value) for key, value in options.items() if value is not None},
        [f"{key}={_text(key, value)}" for key, value in (settings or {}).items()],
    )
    tell(resolved, set())
    planned = plan(carrier(resolved.experiment.engine), resolved, pcap, snap)
    planned.require()
    outcome = planned.execute(None if out is None else Path(out), observer or Observer())
    if outcome.failure:
        raise TestbedError(f"{outcome.failure}; what was measured until then is kept in {outcome.folder}")
    return Run(outcome.folder)


def load(result: str | Path) -> Run:
    """The results in a folder, or those that a report.html carries. Raises BadInput if there are none."""
    found = packed.at(Path(result).expanduser())
    results.load_manifest(found)
    return Run(found)


@dataclass(frozen=True)
class Sweep:
    """A sweep that has ended; ``outcomes`` says how each of its cells did."""

    folder: Path
    outcomes: tuple[CellOutcome, ...]

    @property
    def runs(self) -> list[Run]:
        """Of the cells that did not fail, in the order of the lists."""
        return [Run(self.folder / one.cell) for one in self.outcomes if one.word != "failed"]

    def _repr_html_(self) -> str:
        return compare(self)._repr_html_()


def sweep(
    experiment: str | Path,
    *,
    controller: Plugin | Sequence[Plugin] = (),
    tuner: Plugin | Sequence[Plugin] = (),
    settings: Mapping[str, Any] | None = None,
    engine: str | Sequence[str] = (),
    duration: str | None = None,
    dilation: str | float | None = None,
    repeat: int = 1,
    confidence: float | None = None,
    within: float | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    on: str | None = None,
    out: str | Path | None = None,
) -> Sweep:
    """Run every combination of what is given as a list, ``repeat`` times; a sweep begun in ``out`` goes on.

    ``confidence=95`` adds repeats until the intervals of the medians hold with that probability, in %, and with
    ``within`` until they reach at most so far from their middle, in % of the median.
    ``settings={"traffic.senders": [2, 8]}``; a value that is itself a list is ``[[1, 2]]``. ``jobs`` cells run at the
    same time, or as many as the Ray cluster ``on`` has room for. Raises BadInput, or TestbedError if Ctrl-C ended it;
    cells that fail are in `Sweep.outcomes`.
    """
    axes: dict[str, Any] = {"engine": engine, "time.duration": duration or (), "time.dilation": dilation or ()}
    axes |= settings or {}
    if "seed" in axes:
        raise BadInput("settings: seed: a sweep sets it itself; use repeat, and seed for the first one")
    request = Request(
        str(experiment),
        tuple(spec("controller", one) for one in _listed(controller)),
        tuple(spec("tuner", one) for one in _listed(tuner)),
        tuple((key, tuple(_text(key, one) for one in _listed(values))) for key, values in axes.items() if values != ()),
        repeat,
        seed,
    )
    planned = prepare.planned(request, ORDER_SEED, sys.argv, prepare.until(confidence, within))
    workers = Wanted(jobs, on).hire(planned)
    folder, planned = prepare.place(None if out is None else Path(out), planned)
    return Sweep(folder, tuple(finish(folder, planned, workers)))


@dataclass(frozen=True)
class Compared:
    """Runs held against each other; ``comparison`` has medians, intervals and judgements."""

    comparison: Comparison

    def as_dict(self) -> dict[str, Any]:
        """What `testbed compare --format json` prints, without gates."""
        return self.comparison.as_dict()

    def _repr_html_(self) -> str:
        found = self.comparison
        parts = [
            f"<p><strong>{escape(scenario)}</strong></p>{table(found, here).html()}"
            for scenario, here in found.scenarios.items()
        ]
        return "".join([*parts, *(f"<small>{escape(note)}</small><br>" for note in footnotes(found))])


def compare(*runs: Run | Sweep | str | Path, baseline: str | Path | Run = "", clean_only: bool = False) -> Compared:
    """Hold runs, sweeps or their folders against each other: medians, intervals, dominance. Raises BadInput."""
    if not runs:
        raise BadInput("compare: which runs?")
    found = gather.compare(
        [_folder(one) for one in runs], str(_folder(baseline)) if baseline else "", clean_only=clean_only
    )
    return Compared(found)


def _folder(one: Run | Sweep | str | Path) -> Path:
    return one.folder if isinstance(one, Run | Sweep) else Path(one)


def _listed(given: Any) -> Iterable[Any]:
    return given if isinstance(given, list | tuple) else [given]


def _text(key: str, value: Any) -> str:
    """As YAML."""
    if isinstance(value, str | Path):
        return str(value)
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise BadInput(f"settings: {key}: a {kind}; expected text, numbers, lists or dicts of them, or None") from None
