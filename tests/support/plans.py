"""Every expectation of a plan's case holds, and fails once it is broken on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from testbed.runs.plans import follow
from testbed.runs.plans.case import Case, Expectation, Trial
from testbed.runs.plans.follow import judged, shown
from testbed.runs.plans.rack import LENGTH
from testbed.runs.plans.switch import Switch
from tests.support.simulated import Here

RATE = 100e9
SHORT = ("time.duration=2 ms", "time.warmup=500 us")  # shows as much as `LENGTH`


def wrong(case: Case) -> list[str]:
    """What does not hold as it should, or holds though it was broken."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(follow, "carrier", lambda _engine: Here())
        return [said for trial in case.trials(Switch.own(RATE)) for said in _wrong(trial)]


def _wrong(trial: Trial) -> list[str]:
    short = SHORT if trial.experiment["time"] == {"duration": LENGTH[0], "warmup": LENGTH[1]} else ()
    found = judged(trial, shown(trial, ["engine=virtual", *short]))
    said = [f"{one.expectation.says}: {one.measured}, {one.expectation.bounds}" for one in found if not one.passed]
    return [f"{trial.name}: {one}" for one in said] + _unbroken(trial, short)


def _unbroken(trial: Trial, short: Sequence[str]) -> list[str]:
    by_breaks: dict[tuple[str, ...], list[Expectation]] = {}
    for one in trial.expectations:
        if one.judges:
            by_breaks.setdefault(tuple(one.breaks), []).append(one)
    if trial.search:  # that the line rate does not pass is enough
        trial = replace(trial, search=replace(trial.search, within=100))
    found = []
    for breaks, expectations in by_breaks.items():
        seen = shown(trial, ["engine=virtual", *short, *breaks])
        held = [one for one in expectations if one.holds(float(one.of(seen)))]
        found += [f"{trial.name}: {one.says}: {one.of(seen)}, {one.bounds}, with {breaks}" for one in held]
    return found
