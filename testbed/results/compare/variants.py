"""Which runs are repeats of one another, what they are called, and which of them may be compared.

A *scenario* is everything that was asked for but the controller, the tuner and the seed: rack, traffic, time. A
*contender* is a controller and a tuner with all their options, the code they came from, and the testbed that ran them.
A *variant* is a contender in a scenario; its runs differ by the seed alone and are its repeats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from testbed.base.inputs import own
from testbed.results.compare.effective import effective
from testbed.results.compare.median import Estimate, estimate
from testbed.results.compare.runs import Run
from testbed.results.figures.queues import value_of
from testbed.results.flat import flat

Settings = dict[str, str]  # dotted key to value as text
PLUGINS = ("controller", "tuner")
ALWAYS = ("controller",)  # is in every contender's name
BARE = ("name", "from")  # their value says by itself what it is
LONGEST_VALUE = 24


@dataclass(frozen=True)
class Variant:
    """Repeats of one contender in one scenario. ``runs`` may be empty where only clean ones are wanted."""

    contender: str
    scenario: str  # empty if there is only one
    runs: tuple[Run, ...]
    reference: bool
    plugins: Settings  # controller and tuner with their options, whatever their code
    settings: Settings  # all that it is told apart by

    @property
    def name(self) -> str:
        """What it is called in tables and gates, for example ``dcqcn, senders=8``."""
        return f"{self.contender}, {self.scenario}" if self.scenario else self.contender

    @property
    def degraded(self) -> int:
        """How many of its runs are."""
        return sum(not run.clean for run in self.runs)

    @property
    def restless(self) -> int:
        """How many of its runs were not at rest in their windows."""
        return sum(bool(run.summary.unrest) for run in self.runs)

    def values(self, metric: str) -> list[float]:
        """The metric of each run."""
        if "." in metric:
            return [value_of(run.summary.queues, metric) for run in self.runs]
        return [float(getattr(run.summary, metric)) for run in self.runs]

    def estimate(self, metric: str) -> Estimate:
        """Median and interval of a metric."""
        return estimate(self.values(metric))


def variants(runs: Sequence[Run]) -> list[Variant]:
    """Runs grouped, scenario by scenario; contenders in the order in which they first came."""
    scenarios = [_scenario(run) for run in runs]
    contenders = [_contender(run) for run in runs]
    named = [
        {"name": str(run.manifest.experiment.get("name", ""))} | scenario
        for run, scenario in zip(runs, scenarios, strict=True)
    ]
    scenario_names = dict(zip(map(_key, scenarios), distinguish(named), strict=True))
    contender_names = dict(zip(map(_key, contenders), _contender_names(runs, contenders), strict=True))
    grouped: dict[tuple[str, str], list[int]] = {}
    for index, (scenario, contender) in enumerate(zip(scenarios, contenders, strict=True)):
        grouped.setdefault((_key(scenario), _key(contender)), []).append(index)
    place = {key: index for index, key in enumerate(contender_names)}
    found = [
        Variant(
            contender=contender_names[contender],
            scenario=scenario_names[scenario] if len(scenario_names) > 1 else "",
            runs=tuple(sorted((runs[index] for index in indices), key=lambda run: run.manifest.seed)),
            reference=runs[indices[0]].reference,
            plugins=_plugins(runs[indices[0]]),
            settings=scenarios[indices[0]] | contenders[indices[0]],
        )
        for (scenario, contender), indices in sorted(grouped.items(), key=lambda item: place[item[0][1]])
    ]
    return sorted(found, key=lambda variant: natural(variant.scenario))


def _contender_names(runs: Sequence[Run], contenders: Sequence[Settings]) -> list[str]:
    """With thresholds in bytes at the bottleneck, unless two that are written differently came to the same there."""
    keys = list(map(_key, contenders))
    own = {key: [run for run, other in zip(runs, keys, strict=True) if other == key] for key in keys}
    held = distinguish([effective(one, own[key]) for one, key in zip(contenders, keys, strict=True)], ALWAYS)
    return held if len(set(held)) == len(set(keys)) else distinguish(contenders, ALWAYS)


def differences(runs: Sequence[Run]) -> list[str]:
    """What the scenarios differ in, one line per key, with all its values."""
    scenarios = [_scenario(run) for run in runs]
    lines = []
    for key in dict.fromkeys(key for scenario in scenarios for key in scenario):
        values = sorted({scenario.get(key, "none") for scenario in scenarios}, key=natural)
        if len(values) > 1:
            lines.append(f"{key}: {', '.join(_short(value) for value in values)}")
    return lines


def distinguish(described: Sequence[Settings], always: tuple[str, ...] = ()) -> list[str]:
    """A name for each: as few of its settings as tell the different ones apart.

    Keys come in the order of the settings.
    """
    keys = telling(described, always)
    short = [key.rpartition(".")[2] for key in keys]
    shown = [last if short.count(last) == 1 else key for key, last in zip(keys, short, strict=True)]
    return [_name(one, dict(zip(keys, shown, strict=True))) for one in described]


def telling(described: Sequence[Settings], always: Sequence[str] = ()) -> list[str]:
    """The keys that tell different settings apart.

    One that says the same as those before it (9 hosts where there are 8 senders) is left out.
    """
    keys = list(always)
    told: list[tuple[str | None, ...]] = [tuple(one.get(key) for key in keys) for one in described]
    for key in dict.fromkeys(key for one in described for key in one):
        finer = [(*known, one.get(key)) for known, one in zip(told, described, strict=True)]
        if len(set(finer)) > len(set(told)):
            keys.append(key)
            told = finer
    return keys


def natural(text: str) -> list[tuple[int, str]]:
    """A sorting key that puts 8 before 64."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)]


def _name(settings: Settings, shown: Mapping[str, str]) -> str:
    parts = [" + ".join(settings[key] for key in PLUGINS if key in shown and key in settings)]
    for key, last in shown.items():
        if key in settings and key not in PLUGINS:
            parts.append(settings[key] if key in BARE else f"{last}={_short(settings[key])}")
    return ", ".join(part for part in parts if part)


def _short(value: str) -> str:
    """Long values, such as lists of flows, are told by a number that depends on all of them."""
    if len(value) <= LONGEST_VALUE:
        return value
    import hashlib

    return f"#{hashlib.sha256(value.encode()).hexdigest()[:7]}"


def _scenario(run: Run) -> Settings:
    asked = {key: value for key, value in run.manifest.experiment.items() if key not in NOT_THE_SCENARIO}
    settings = flat({"traffic": asked.pop("traffic", None), **asked}) | _files(run, "traffic")
    if run.manifest.speed is not None:  # each run measured the machine for itself
        settings["time.dilation"] = "auto"
    return settings


NOT_THE_SCENARIO = ("name", "description", "seed", "controller", "controllers", "tuner")


def _contender(run: Run) -> Settings:
    manifest = run.manifest
    code = {"controller.file": manifest.controller.sha256[:7]}
    if manifest.tuner:
        code["tuner.file"] = manifest.tuner.sha256[:7]
    code |= _files(run, *PLUGINS, "controllers")
    reference = {"from": "baseline"} if run.reference else {}
    return reference | _plugins(run) | code | {"testbed": manifest.versions.get("testbed", "")}


def _files(run: Run, *blocks: str) -> Settings:
    """What the user's own files held that these blocks name."""
    found = own(run.manifest.inputs, run.manifest.experiment)
    return {key: sha256[:7] for key, sha256 in found.items() if key.partition(".")[0] in blocks}


def _plugins(run: Run) -> Settings:
    manifest = run.manifest
    settings = {"controller": manifest.controller.name}
    if manifest.tuner:
        settings["tuner"] = manifest.tuner.name
    for kind in PLUGINS:
        options = dict(manifest.experiment.get(kind) or {})
        options.pop("name", None)  # or the path, which says nothing about the code
        settings |= flat({kind: options})
    if others := manifest.experiment.get("controllers"):
        settings |= {"beside": " + ".join(str(one["name"]) for one in others)} | flat({"controllers": others})
    return settings


def _key(settings: Settings) -> str:
    return json.dumps(settings, sort_keys=True)
