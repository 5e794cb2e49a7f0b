"""Scores a controller: its source against the rules, its runs, one number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from json import dumps
from pathlib import Path

from testbed.engines.kernel import doctor
from testbed.engines.virtual.build import WORLD
from testbed.errors import TestbedError, Uncalibrated
from testbed.fidelity.verdict import judge
from testbed.live.observers import Observer
from testbed.registry import absolute, find, is_path
from testbed.results.record import EngineName
from testbed.results.summary import summarise
from testbed.runs.carrier import carrier
from testbed.runs.forked import each
from testbed.runs.overrides import resolve
from testbed.sdk.score.parts import part, together
from testbed.sdk.score.rules import broken
from testbed.sdk.score.suite import Trial


@dataclass(frozen=True)
class Outcome:
    """What one run gave; ``why`` says why it gave nothing, ``degraded`` what the emulation had to do with it."""

    experiment: str
    parts: dict[str, float]
    why: str = ""
    degraded: str = ""


@dataclass(frozen=True)
class Score:
    """Of one controller. ``refused`` says why it was not even run."""

    controller: str
    outcomes: Sequence[Outcome] = ()
    refused: Sequence[str] = ()
    parts: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        """Each part is the geometric mean of the runs that give it."""
        names = dict.fromkeys(name for one in self.outcomes for name in one.parts)
        found = {name: together(one.parts[name] for one in self.outcomes if name in one.parts) for name in names}
        object.__setattr__(self, "parts", found)

    @property
    def total(self) -> float:
        """0 to 100: the geometric mean of the parts."""
        return 100 * together(self.parts.values())

    @property
    def reasons(self) -> list[str]:
        """Why it is 0."""
        return [*self.refused, *(f"{one.experiment}: {one.why}" for one in self.outcomes if one.why)]


def score(controller: str, trials: Sequence[Trial], seed: int, jobs: int, engine: EngineName = "virtual") -> Score:
    """Of a controller by name, or of a candidate by path, whose source is read first.

    Raises BadInput, TestbedError if this machine lacks what the engine needs, Uncalibrated if its rack is off.
    """
    if is_path(controller):
        controller = absolute(controller, Path())
        if refused := broken(Path(controller.partition(":")[0])):
            return Score(controller, refused=refused)
    find("controller", controller)  # what is wrong with the name or the file is no matter of points
    if engine == "kernel":  # nor is what this machine lacks
        doctor.require()
    else:
        WORLD.compiled()
    return Score(controller, list(_outcomes(controller, trials, seed, jobs, engine)))


def _outcomes(controller: str, trials: Sequence[Trial], seed: int, jobs: int, engine: EngineName) -> Iterator[Outcome]:
    works = [partial(outcome, controller, trial, trial.seeded(seed, at, engine)) for at, trial in enumerate(trials)]
    return each(works, jobs)


def outcome(controller: str, trial: Trial, settings: list[str]) -> Outcome:
    """Of one run under the settings that `Trial.seeded` made. Raises Uncalibrated."""
    nothing = dict.fromkeys(trial.parts, 0.0)
    try:
        plain = f"controller={dumps(controller)}"  # without the options of an experiment that names it
        resolved = resolve(trial.experiment, {"controller": controller}, {}, [plain, *settings])
        engine, observer = carrier(resolved.experiment.engine), Observer()
        engine.check(resolved)
        record = engine.follow(engine.prepare(resolved, observer), observer, [], trial.experiment, [])
    except Uncalibrated as error:
        raise Uncalibrated(f"{trial.experiment}: {error}") from None  # no candidate had a part in it
    except TestbedError as error:
        return Outcome(trial.experiment, nothing, str(error))
    broken = record.broken if record.engine != "kernel" else []  # there late timers do it, and no candidate
    if record.interrupted or broken:
        why = record.interrupted or "; ".join(str(one) for one in broken)
        return Outcome(trial.experiment, nothing, why)
    verdict = judge(record)
    run = summarise(record, verdict, experiment=trial.experiment, controller=controller)
    parts = {name: part(name, run) for name in trial.parts}
    return Outcome(trial.experiment, parts, degraded=str(verdict) if verdict.reasons else "")
