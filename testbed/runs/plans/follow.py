"""Runs a plan's cases and judges what they showed.

In the kernel a run that this machine has disturbed says little about the switch: it is tried again, more slowly.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import nan
from pathlib import Path

from testbed.capture.files import Capture
from testbed.capture.point import Point
from testbed.errors import BadInput
from testbed.experiment.load import recorded, resolve
from testbed.experiment.resolved import Resolved
from testbed.fidelity.verdict import disturbances
from testbed.live.observers import Observer
from testbed.results.record import EngineName
from testbed.runs.carrier import carrier
from testbed.runs.plans.case import Case, Expectation, TestPlan, Trial
from testbed.runs.plans.observed import Observed
from testbed.runs.plans.packets import Packets
from testbed.runs.plans.switch import NotApplicable, Switch

HEADERS = 320  # bytes of each packet: what is looked at
ATTEMPTS, SLOWER = 3, 1.5  # in the kernel; times the dilation of the one before


@dataclass(frozen=True)
class Finding:
    """An expectation and what was measured."""

    expectation: Expectation
    measured: float

    @property
    def passed(self) -> bool:
        """Also what only is noted, and what does not apply."""
        return self.expectation.holds(self.measured)


@dataclass(frozen=True)
class Outcome:
    """Of one run of a case, or of a case that has none: then ``missing`` says why."""

    case: Case
    rate: float
    trial: str
    findings: Sequence[Finding] = ()
    missing: str = ""
    broken: Sequence[str] = ()  # invariants of the run itself, and what the machine did to it
    seconds: float = 0.0
    dilation: float | None = None  # in the kernel

    @property
    def word(self) -> str:
        """`pass`, `fail`, or `not run`."""
        if self.missing:
            return "not run"
        return "pass" if not self.broken and all(one.passed for one in self.findings) else "fail"


def examine(
    plan: TestPlan, switches: Sequence[Switch], only: Sequence[str] = (), engine: EngineName = "virtual"
) -> Iterator[Outcome]:
    """Every run of the plan with every switch; ``only``: of these cases."""
    for switch in switches:
        for case in plan.cases:
            if not only or case.key in only:
                yield from _case(case, switch, engine)


def _case(case: Case, switch: Switch, engine: EngineName) -> Iterator[Outcome]:
    try:
        trials = [Trial("", missing=case.missing)] if case.missing else case.trials(switch)
    except NotApplicable as error:
        trials = [Trial("", missing=str(error))]
    for trial in trials:
        try:
            missing = trial.missing
            if not missing:
                yield _outcome(case, switch.rate, trial, engine)
        except BadInput as error:  # what the engine cannot do yet
            missing = str(error).replace("the plan: ", "")
        if missing:
            yield Outcome(case, switch.rate, trial.name, missing=missing)


def _outcome(case: Case, rate: float, trial: Trial, engine: EngineName) -> Outcome:
    begin, settings = time.monotonic(), [f"engine={engine}"]
    if engine == "kernel":
        settings.append("time.dilation=auto")
    for attempt in range(ATTEMPTS):
        seen = shown(trial, settings)
        wrong = [*seen.record.broken, *disturbances(seen.record)]
        dilation = seen.resolved.experiment.time.factor if engine == "kernel" else None
        if dilation is None or not wrong or attempt == ATTEMPTS - 1:
            break
        settings[1] = f"time.dilation={SLOWER * dilation:g}"
    broken = [f"{one.what}: {one.how_much}" for one in wrong]
    seconds = time.monotonic() - begin
    return Outcome(case, rate, trial.name, judged(trial, seen), broken=broken, seconds=seconds, dilation=dilation)


def shown(trial: Trial, settings: Sequence[str]) -> Observed:
    """What its run shows, or the one that its search ends with. Raises BadInput for what the engine does not have."""

    def run(*more: str) -> Observed:
        return observe(_resolved_of(trial, [*settings, *more]), trial.captures)

    return trial.search.highest(run) if trial.search else run()


def _resolved_of(trial: Trial, settings: Sequence[str]) -> Resolved:
    written = json.loads(json.dumps({"name": "plan", **trial.experiment}))  # keys as text, as a file has them
    loaded = recorded(written, "the plan", lambda _plugins, _apps: None)
    return resolve(loaded.apply(settings))


def observe(resolved: Resolved, points: Sequence[str] = ()) -> Observed:
    """Run it, with captures of what comes in there."""
    engine, observer = carrier(resolved.experiment.engine), Observer()
    engine.check(resolved)
    prepared = engine.prepare(resolved, observer)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        files = [Path(folder) / f"{number}.pcapng" for number in range(len(points))]
        captures = [
            Capture(Point(*point.split(":")), opened.enter_context(file.open("w+b")), HEADERS, outgoing=False)
            for point, file in zip(points, files, strict=True)
        ]
        record = engine.follow(prepared, observer, [], "plan", captures)
        return Observed(prepared.resolved, record, [Packets.read(file) for file in files])


def judged(trial: Trial, observed: Observed) -> list[Finding]:
    """Each of its expectations."""
    return [Finding(one, nan if one.missing else float(one.of(observed))) for one in trial.expectations]
