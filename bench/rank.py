"""Whether scores in virtual time put controllers in the order that the kernel's rack puts them in."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from bench.measure import Row
from testbed.base.atomic import atomic_write
from testbed.engines.kernel import doctor
from testbed.engines.virtual.build import WORLD
from testbed.errors import BadInput, Uncalibrated
from testbed.registry import names as installed
from testbed.results.record import EngineName
from testbed.sdk.score.score import Outcome, Score, outcome
from testbed.sdk.score.suite import SUITES, Trial

ENGINES: tuple[EngineName, ...] = ("virtual", "kernel")
SEED = 1
TAU = 0.8
DILATIONS = ((), ("time.dilation=4000",), ("time.dilation=12000",))  # the next where the machine spoiled a run
TRIALS = SUITES["quick"]
SLOWEST = ("incast-128", "websearch")
ORDER = sorted(enumerate(TRIALS), key=lambda one: one[1].experiment in SLOWEST)
BUSY, ALSO = "degraded: CPU overload", "; also "  # in a verdict's text: its first reason, and before each other one
PARTS = tuple(dict.fromkeys(part for trial in TRIALS for part in trial.parts))
HEAD = ("engine", "controller", "experiment", "why", "degraded", *PARTS)
Outcomes = Mapping[str, Outcome]  # by experiment; without those that the machine spoiled


class Kept:
    """Outcomes of all engines, in a file if one is given, so that another call goes on where this one ends.

    The file is CSV, a line per run; docs/findings/results/score-rank.csv is one.
    """

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.runs: dict[tuple[str, str, str], list[Outcome]] = {}  # by engine, controller, experiment; all attempts
        if file and file.exists():
            try:
                self._read(file.read_text(encoding="utf-8"))
            except (ValueError, TypeError):
                advice = "give the file of an earlier call, or one that is not there"
                raise BadInput(f"{file}: expected lines of {', '.join(HEAD)}; {advice}") from None

    def _read(self, content: str) -> None:
        lines = csv.DictReader(io.StringIO(content))
        if tuple(lines.fieldnames or ()) != HEAD:
            raise ValueError
        for line in lines:
            parts = {name: float(line[name]) for name in PARTS if line[name]}
            one = Outcome(line["experiment"], parts, line["why"], line["degraded"])
            self.runs.setdefault((line["engine"], line["controller"], one.experiment), []).append(one)

    def _written(self) -> str:
        told = io.StringIO()
        writer = csv.writer(told, lineterminator="\n")
        writer.writerow(HEAD)
        for (engine, controller, experiment), attempts in sorted(self.runs.items()):
            for one in attempts:
                parts = [f"{one.parts[name]:.7g}" if name in one.parts else "" for name in PARTS]
                writer.writerow([engine, controller, experiment, one.why, one.degraded, *parts])
        return told.getvalue()

    def attempts(self, engine: EngineName, controller: str, trial: Trial) -> list[Outcome]:
        """So far; one whose calibration failed has no parts."""
        return self.runs.get((engine, controller, trial.experiment), [])

    def add(self, engine: EngineName, controller: str, one: Outcome) -> None:
        """Raises KeyboardInterrupt if that is what ended the run."""
        if one.why == "Ctrl-C":
            raise KeyboardInterrupt
        print(f"bench: {controller}: {engine}: {one}", file=sys.stderr, flush=True)
        self.runs.setdefault((engine, controller, one.experiment), []).append(one)
        if self.file:
            atomic_write(self.file, self._written().encode())

    def clean(self, engine: EngineName, controller: str) -> Outcomes:
        """Of a controller, by experiment."""
        return {
            trial.experiment: one
            for trial in TRIALS
            for one in self.attempts(engine, controller, trial)
            if _is_clean(one)
        }

    def last(self, engine: EngineName, controller: str) -> Outcomes:
        """Of each experiment the last run that has figures, degraded or not."""
        attempts = (self.attempts(engine, controller, trial) for trial in TRIALS)
        return {one.experiment: one for of in attempts for one in of if one.parts and not one.why}


def of_rank(file: Path | None = None) -> Iterator[Row]:
    """Kendall's tau between the scores of all controllers; needs root, and about three minutes for each.

    All controllers run an experiment before the next one begins, and what was spoiled is repeated at the end: then what
    ``file`` keeps of a call that was ended early is worth most.
    """
    doctor.require()
    WORLD.compiled()
    names, kept = sorted(installed("controller")), Kept(file)
    dilations: dict[EngineName, Sequence[Sequence[str]]] = {"virtual": DILATIONS[:1], "kernel": DILATIONS}
    for engine, tries in dilations.items():
        for attempt, dilation in enumerate(tries):
            for number, trial in ORDER:
                for name in names:
                    before = kept.attempts(engine, name, trial)
                    if len(before) == attempt and not any(map(_is_clean, before)):
                        kept.add(engine, name, _run(name, trial, [*trial.seeded(SEED, number, engine), *dilation]))
    yield row(names, kept)


def row(names: Sequence[str], kept: Kept) -> Row:
    """What came out."""
    virtual, rack = [kept.clean("virtual", name) for name in names], [kept.clean("kernel", name) for name in names]
    found, pairs = kendall(virtual, rack)
    runs, clean = len(names) * len(TRIALS), sum(len(one) for one in rack)
    every = [[kept.last(engine, name) for name in names] for engine in ENGINES]
    tau, of = kendall(*every)
    return Row(
        f"Kendall's tau of {len(names)} controllers' scores, virtual and kernel", f"{found:.2f}", f">= {TAU}",
        found >= TAU,
        note=f"{pairs} pairs; {clean} of {runs} runs in the rack were clean, the others are left out; "
        f"with the degraded ones, {sum(map(len, every[1]))} runs, it is {tau:.2f} over {of} pairs",
        values={"controllers": list(names), "virtual": _totals(virtual), "kernel": _totals(rack)},
    )  # fmt: skip


def _run(controller: str, trial: Trial, settings: list[str]) -> Outcome:
    try:
        return outcome(controller, trial, settings)
    except Uncalibrated as error:
        return Outcome(trial.experiment, {}, degraded=str(error))


def _is_clean(one: Outcome) -> bool:
    """Or beside busy cores alone, of which nothing was late: that others compute is no matter of the rack."""
    return not one.degraded or (one.degraded.startswith(BUSY) and ALSO not in one.degraded)


def kendall(one: Sequence[Outcomes], other: Sequence[Outcomes]) -> tuple[float, int]:
    """Tau-a: the share of pairs in the same order, less that of those in the opposite one; and how many pairs.

    A pair is compared over the experiments of which all four outcomes are there.
    """
    signs = []
    for a, b in combinations(range(len(one)), 2):
        shared = one[a].keys() & one[b].keys() & other[a].keys() & other[b].keys()
        if shared:
            product = (_total(one[a], shared) - _total(one[b], shared)) * (
                _total(other[a], shared) - _total(other[b], shared)
            )
            signs.append((product > 0) - (product < 0))
    return sum(signs) / max(len(signs), 1), len(signs)


def _total(found: Outcomes, experiments: Iterable[str]) -> float:
    return Score("", [found[name] for name in sorted(experiments)]).total


def _totals(found: Sequence[Outcomes]) -> list[float]:
    return [_total(one, one) for one in found]
