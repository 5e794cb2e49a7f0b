"""Every expectation of a plan's case holds, and fails once it is broken on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from testbed.runs.plans.case import Case, Expectation, Trial
from testbed.runs.plans.follow import judged, shown
from testbed.runs.plans.rack import LENGTH
from testbed.runs.plans.switch import Switch

RATE = 100e9
SHORT = ("time.duration=2 ms", "time.warmup=500 us")  # shows as much as `LENGTH`


def wrong(case: Case, rate: float = RATE) -> list[str]:
    """What does not hold as it should, or holds though it was broken."""
    found = []
    for trial in case.trials(Switch.own(rate)):
        short = SHORT if trial.experiment["time"] == {"duration": LENGTH[0], "warmup": LENGTH[1]} else ()
        for one in judged(trial, shown(trial, ["engine=virtual", *short])):
            if not one.passed:
                found.append(f"{trial.name}: {one.expectation.says}: {one.measured}, {one.expectation.bounds}")
        found += _unbroken(trial, short)
    return found


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
