"""Cases of an operator's test plan that must stay passed: what passes now and fails with other settings of the switch.

The switch is the one of `--switch`, or else the plan's own with the thresholds that the traffic has now.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from testbed.advise.budget import Spent, in_time
from testbed.errors import BadInput, TestbedError, nearest
from testbed.runs.forked import each
from testbed.runs.plans.case import Case, Trial
from testbed.runs.plans.follow import judged, shown
from testbed.runs.plans.shipped import PLANS
from testbed.runs.plans.switch import NotApplicable, Switch, of_config

OF_SWITCH, OF_TUNER = "rack.switch.", "tuner."  # what a plan's case has of a candidate


@dataclass(frozen=True)
class Kept:
    """Cases of a plan that a switch can have; ``left_out``: why others are not among them."""

    plan: str
    cases: tuple[Case, ...]
    switch: Switch
    left_out: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str, config: Path | None, rate: float) -> Kept:
        """Of ``sonic-rocev2`` or ``sonic-rocev2:2a,3a``, for ports of ``rate`` bit/s. Raises BadInput."""
        name, _, listed = (part.strip() for part in text.partition(":"))
        if name not in PLANS:
            raise BadInput(f"--keep {text}: no test plan is named '{name}'; {nearest(name, [*PLANS])}")
        known = {case.key: case for case in PLANS[name].cases if not case.missing}
        wanted = [one.strip() for one in listed.split(",")] if listed else [*known]
        unknown = next((one for one in wanted if one not in known), None)
        if unknown is not None:
            raise BadInput(f"--keep {text}: '{unknown}' is no case that runs; {nearest(unknown, [*known])}")
        switch = of_config(config)[0].at(rate) if config else Switch.own(rate)
        why = {one: _why_not(known[one], switch) for one in wanted}
        left_out = tuple(f"case {one} of {name} is left out: {said}" for one, said in why.items() if said)
        if len(left_out) == len(wanted) or (listed and left_out):
            raise BadInput(f"--keep {text}: {left_out[0]}")
        return cls(name, tuple(known[one] for one in wanted if not why[one]), switch, left_out)

    def passing(self, texts: Mapping[str, str], jobs: int, until: float | None) -> list[str]:
        """Its runs that pass with these texts by the keys of an experiment, of which a case has those of a switch.
        Raises Spent: none begins after ``until``.
        """
        switch = changed(self.switch, texts)
        trials = [(case, trial) for case in self.cases for trial in case.trials(switch)]
        passed = list(each((partial(_passes, trial) for _, trial in in_time(trials, until)), jobs))
        if len(passed) < len(trials):
            raise Spent
        return [
            f"case {case.key} of {self.plan}, {case.title}{f', {trial.name}' if trial.name else ''}"
            for (case, trial), one in zip(trials, passed, strict=True)
            if one
        ]

    def against(self, before: Sequence[str], then: Mapping[str, str], jobs: int, until: float | None) -> list[str]:
        """What there is to say against such texts, where these passed before."""
        try:
            passed = self.passing(then, jobs, until)
        except Spent as error:
            return [f"whether it still passes the cases of {self.plan} is not known: {error}"]
        return [f"it no longer passes {one}" for one in before if one not in passed]


def changed(switch: Switch, texts: Mapping[str, str]) -> Switch:
    """With other settings; thresholds of a tuner are those of every queue that marks."""
    tables: dict[str, Any] = json.loads(json.dumps(switch.tables))  # keys as text, as a file has them
    for key, text in texts.items():
        for path in _paths(key, switch):
            place = tables
            for part in path[:-1]:
                place = place.setdefault(part, {})
            place[path[-1]] = yaml.safe_load(text)
    return replace(switch, tables=tables)


def _paths(key: str, switch: Switch) -> Iterator[list[str]]:
    if key.startswith(OF_SWITCH):
        yield key.removeprefix(OF_SWITCH).split(".")
    elif key.startswith(OF_TUNER):
        yield from (["queues", str(queue), "red", key.removeprefix(OF_TUNER)] for queue in switch.marked)


def _why_not(case: Case, switch: Switch) -> str:
    try:
        missing = [one.missing for one in case.trials(switch)]
    except NotApplicable as error:
        return str(error)
    return missing[0] if missing and all(missing) else ""


def _passes(trial: Trial) -> bool:
    """What cannot run does not."""
    try:
        seen = shown(trial, ["engine=virtual"])
    except TestbedError:
        return False
    return not seen.record.broken and all(one.passed for one in judged(trial, seen))
