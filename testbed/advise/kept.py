"""Cases of an operator's test plan that must stay passed: what passes now and fails with other thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from testbed.advise.evidence import Settings
from testbed.errors import BadInput, TestbedError, nearest
from testbed.runs.forked import each
from testbed.runs.plans.case import Case, Trial
from testbed.runs.plans.follow import judged, shown
from testbed.runs.plans.shipped import PLANS
from testbed.runs.plans.switch import LOSSLESS, Switch

RED = ("kmin", "kmax", "pmax")


@dataclass(frozen=True)
class Kept:
    """Cases of a plan."""

    plan: str
    cases: tuple[Case, ...]

    @classmethod
    def read(cls, text: str) -> Kept:
        """Of ``sonic-rocev2`` or ``sonic-rocev2:2a,3a``. Raises BadInput."""
        name, _, listed = (part.strip() for part in text.partition(":"))
        if name not in PLANS:
            raise BadInput(f"--keep {text}: no test plan is named '{name}'; {nearest(name, [*PLANS])}")
        known = {case.key: case for case in PLANS[name].cases if not case.missing}
        wanted = [one.strip() for one in listed.split(",")] if listed else [*known]
        unknown = next((one for one in wanted if one not in known), None)
        if unknown is not None:
            raise BadInput(f"--keep {text}: '{unknown}' is no case that runs; {nearest(unknown, [*known])}")
        return cls(name, tuple(known[one] for one in wanted))

    def lost(self, now: Mapping[str, str], then: Mapping[str, str], rate: float, jobs: int) -> list[str]:
        """What passes now and fails then; ``now`` and ``then`` are thresholds, by the keys of an experiment."""
        trials = [(case, trial) for case in self.cases for trial in case.trials(Switch.own(rate))]
        settings = [_settings(now), _settings(then)]
        works: list[Callable[[], bool]] = [partial(_passes, trial, one) for _, trial in trials for one in settings]
        answers = list(each(works, min(jobs, len(works))))
        return [
            f"case {case.key} of {self.plan}, {case.title}{f', {trial.name}' if trial.name else ''}"
            for (case, trial), (before, after) in zip(trials, _pairs(answers), strict=True)
            if before and not after
        ]


def _pairs(answers: Sequence[bool]) -> Iterator[tuple[bool, bool]]:
    return zip(answers[::2], answers[1::2], strict=True)


def _settings(texts: Mapping[str, str]) -> Settings:
    """The thresholds of the lossless queues, which plans have where SONiC has them."""
    found = []
    for queue in LOSSLESS:
        place = f"rack.switch.queues.{queue}.red"
        said = {name: texts.get(f"{place}.{name}", "") for name in RED}
        if all(said.values()):
            found.append(f"{place}={{{', '.join(f'{name}: {text}' for name, text in said.items())}}}")
    return tuple(found)


def _passes(trial: Trial, settings: Settings) -> bool:
    """What cannot run does not."""
    try:
        seen = shown(trial, ["engine=virtual", *settings])
    except TestbedError:
        return False
    return not seen.record.broken and all(one.passed for one in judged(trial, seen))
