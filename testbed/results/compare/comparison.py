"""Runs compared with each other: variants with their figures, a baseline, dominance, gates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from testbed.errors import BadInput
from testbed.results.compare import gate, pareto
from testbed.results.compare.clear import Clear, compared
from testbed.results.compare.gate import FailCondition, Scope
from testbed.results.compare.median import Estimate, estimate
from testbed.results.compare.variants import Variant
from testbed.results.figures.queues import compared as compared_queues
from testbed.results.figures.registry import Figure
from testbed.results.summary import COMPARED

IDLE = 0.01  # of the best goodput in a scenario: with less, queues and losses are those of an idle rack


@dataclass(frozen=True)
class Failure:
    """One variant that a gate does not let pass, and why."""

    variant: str
    why: str


@dataclass(frozen=True)
class GateResult:
    """What a gate said of all variants."""

    gate: FailCondition
    failures: tuple[Failure, ...]


@dataclass(frozen=True)
class Comparison:
    """All variants, ordered by scenario; ``baseline`` is a contender's or a variant's name, see `baseline_of`."""

    variants: tuple[Variant, ...]
    baseline: str
    notes: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()  # sweeps, and which of their cells have no results

    @cached_property
    def contenders(self) -> list[str]:
        """In the order in which they first came: the order of their colours."""
        return list(dict.fromkeys(variant.contender for variant in self.variants))

    @cached_property
    def experiments(self) -> list[str]:
        """The names of what was run."""
        return list(dict.fromkeys(run.summary.experiment for variant in self.variants for run in variant.runs))

    @cached_property
    def scenarios(self) -> dict[str, list[Variant]]:
        """Scenario to its variants."""
        found: dict[str, list[Variant]] = {}
        for variant in self.variants:
            found.setdefault(variant.scenario, []).append(variant)
        return found

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """What is compared, by name; also of the queues that the runs' bottlenecks have."""
        runs = (run for variant in self.variants for run in variant.runs)
        return COMPARED | compared_queues(queue for run in runs for queue in run.summary.queues)

    @property
    def metrics(self) -> list[Figure]:
        """The figures that at least one run knows."""
        known = {name for name in self.figures for one in self.variants if not _all_nan(one.values(name))}
        return [metric for metric in self.figures.values() if metric.name in known or not metric.seldom]

    def baseline_of(self, variant: Variant) -> Variant | None:
        """What a variant is compared with: the one with the baseline's full name, or else the baseline's contender in
        the same scenario. From a baseline folder it is the one with the same plugins and options, or the only one."""
        exact = [one for one in self.variants if one.name == self.baseline]
        if exact:
            return exact[0]
        here = self.scenarios[variant.scenario]
        if self.baseline:
            return next((one for one in here if one.contender == self.baseline), None)
        references = [one for one in here if one.reference]
        same = [one for one in references if one is variant or one.plugins == variant.plugins]
        chosen = same or references
        return chosen[0] if len(chosen) == 1 else None

    def is_baseline(self, variant: Variant) -> bool:
        """Whether others are compared with it."""
        return variant.reference or self.baseline_of(variant) is variant

    @cached_property
    def idle(self) -> frozenset[str]:
        """Variants that deliver next to nothing: an empty queue is no merit of theirs."""
        found: set[str] = set()
        for here in self.scenarios.values():
            goodput = {one.name: one.estimate("goodput").median for one in here}
            most = max((value for value in goodput.values() if not math.isnan(value)), default=0.0)
            found |= {name for name, value in goodput.items() if value <= IDLE * most}
        return frozenset(found)

    def comparable(self, variant: Variant, metric: str) -> bool:
        """Whether the metric says something about it beside others."""
        return self.figures[metric].of_idle or variant.name not in self.idle

    def _other(self, variant: Variant, metric: str) -> Variant | None:
        """The baseline, if it is another variant and both can be compared."""
        base = self.baseline_of(variant)
        if base is None or base is variant:
            return None
        return base if self.comparable(variant, metric) and self.comparable(base, metric) else None

    def judged(self, variant: Variant, metric: str) -> Clear:
        """What it is beside the baseline."""
        base = self._other(variant, metric)
        return compared(self.figures[metric], variant.estimate(metric), base.estimate(metric)) if base else ""

    def relative(self, variant: Variant, metric: str) -> float:
        """Difference to the baseline's median as a ratio; nan where there is none, and for the baseline itself."""
        base = self._other(variant, metric)
        if base is None:
            return math.nan
        was, now = base.estimate(metric).median, variant.estimate(metric).median
        return now / was - 1 if was else (0.0 if now == was else math.nan)

    @cached_property
    def dominated_by(self) -> dict[str, list[str] | None]:
        """Variant to those of its scenario that dominate it (`testbed.results.compare.pareto`); None: not known."""
        found: dict[str, list[str] | None] = {}
        for here in self.scenarios.values():
            results = [{metric.name: self._estimate(one, metric.name) for metric in pareto.RULE} for one in here]
            for variant, by in zip(here, pareto.dominated_by(results), strict=True):
                found[variant.name] = None if by is None else [here[index].contender for index in by]
        return found

    def _estimate(self, variant: Variant, metric: str) -> Estimate:
        return estimate([]) if variant.name in self.idle else variant.estimate(metric)

    def judge(self, one: FailCondition, allow_degraded: bool = False) -> GateResult:
        """Hold every variant against a gate; a reference only gives the baseline. Raises BadInput if there is none."""
        held = [variant for variant in self.variants if not (one.uses_baseline and self.is_baseline(variant))]
        held = [variant for variant in held if not variant.reference]
        if not held:
            raise BadInput(
                f"--fail-if '{one.text}': there is nothing to hold against the baseline '{self.baseline}': all runs "
                "are repeats of it; name the runs to be compared with by --baseline FOLDER"
            )
        failures = [("incomplete sweep", what) for what in self.incomplete]
        failures += [(variant.name, self._objection(variant, one, allow_degraded)) for variant in held]
        return GateResult(one, tuple(Failure(name, why) for name, why in failures if why))

    def _objection(self, variant: Variant, one: FailCondition, allow_degraded: bool) -> str:
        """Why a variant does not pass; empty if it does."""
        base = self.baseline_of(variant) if one.uses_baseline else None
        involved = [variant, *([base] if base else [])]
        if one.uses_baseline and base is None:
            return f"there is no baseline{f' {self.baseline!r}' if self.baseline else ''} in its scenario"
        for each in involved:
            if not each.runs:
                return f"{each.name} has no clean run"
            if each.degraded and not allow_degraded:
                return f"{each.degraded} of {len(each.runs)} runs of {each.name} are degraded; see --allow-degraded"
            for name in one.metrics:
                if not self.comparable(each, name):
                    return f"{each.name} delivers next to nothing, so its {name} is not comparable"
        values = [f"{name} is {_shown(variant, name)}" for name in one.metrics]
        if base:
            values = [
                f"{value}, baseline ({base.name}) {_shown(base, name)}"
                for value, name in zip(values, one.metrics, strict=True)
            ]
        holds = one.holds(Scope(_medians(variant), _medians(base) if base else lambda _name: math.nan))
        if holds is False:
            return ""
        return "; ".join(values) + (" (cannot be decided with what is not known)" if holds is None else "")

    def as_dict(self) -> dict[str, Any]:
        """For ``--format json``; what cannot be known is null. Values are SI, as in summary.json."""
        return {
            "baseline": self.baseline or None,
            "metrics": {metric.name: {"better": metric.better, "label": metric.label} for metric in self.metrics},
            "variants": [self._variant(variant) for variant in self.variants],
            "notes": list(self.notes),
        }

    def _variant(self, variant: Variant) -> dict[str, Any]:
        base = self.baseline_of(variant)
        return {
            "name": variant.name,
            "contender": variant.contender,
            "scenario": variant.scenario or None,
            "baseline": base.name if base else None,
            "idle": variant.name in self.idle,
            "dominated_by": self.dominated_by[variant.name],
            "runs": [
                {"folder": str(run.folder), "seed": run.manifest.seed, "verdict": run.summary.verdict.word}
                for run in variant.runs
            ],
            "metrics": {metric.name: self._figure(variant, metric.name) for metric in self.metrics},
        }

    def _figure(self, variant: Variant, metric: str) -> dict[str, Any]:
        found = variant.estimate(metric)
        interval = [found.low, found.high] if found.has_interval else None
        return {
            "median": _or_null(found.median),
            "interval": interval,
            "coverage": found.coverage if interval else None,
            "values": [_or_null(value) for value in variant.values(metric)],
            "relative": _or_null(self.relative(variant, metric)),
            "judged": self.judged(variant, metric) or None,
        }


def as_json(comparison: Comparison, gates: Sequence[GateResult]) -> dict[str, Any]:
    """Comparison and gates as plain data."""
    judged = [{"condition": one.gate.text, "failures": [vars(each) for each in one.failures]} for one in gates]
    return comparison.as_dict() | {"gates": judged}


def _medians(variant: Variant) -> gate.Lookup:
    return lambda name: variant.estimate(name).median


def _shown(variant: Variant, name: str) -> str:
    metric, median = COMPARED[name], variant.estimate(name).median
    return "not known" if math.isnan(median) else f"{metric.number(median)} {metric.readers_unit}".strip()


def _all_nan(values: Sequence[float]) -> bool:
    return all(math.isnan(value) for value in values)


def _or_null(value: float) -> float | None:
    return value if math.isfinite(value) else None
