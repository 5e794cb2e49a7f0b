"""A comparison as text: metrics down, contenders across, one table per scenario; readable at 80 columns and piped."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from testbed.results.compare import pareto
from testbed.results.compare.clear import MOST_CHANCE, NOTEWORTHY, chance
from testbed.results.compare.comparison import IDLE, Comparison
from testbed.results.compare.median import coverage, rank
from testbed.results.compare.variants import Variant
from testbed.results.figures.registry import Figure
from testbed.results.fitted import Fitted, Prose
from testbed.results.table import Cell, Table
from testbed.units import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

ROUNDING = 1e-6  # what sums of floats in another order make; no table shows as many digits


def render(comparison: Comparison) -> RenderableType:
    """All scenarios for rich. Contenders that have no room go into a further table below."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for scenario, here in comparison.scenarios.items():
        kept = int(any(map(comparison.is_baseline, here)))
        parts += [Prose(_title(here, scenario), style="bold"), Fitted(table(comparison, here), kept), Text()]
    return Group(*parts, *(Prose(note, style="dim") for note in footnotes(comparison)))


def footnotes(comparison: Comparison) -> list[str]:
    """How the figures are to be read."""
    counts = {len(one.runs) for one in comparison.variants if len(one.runs) > 1}
    found = ["medians of the runs, with the difference to the baseline's; decision: wall time"]
    if counts:
        covers = ", ".join(f"{100 * coverage(n, rank(n)):.3g} % with {n} runs" for n in sorted(counts))
        found.append(f"below: the interval that holds the true median with a probability of {covers}")
    figures = ", ".join(metric.label for metric in pareto.RULE)
    found.append(f"dominated: another one is worse in none of {figures}, and better in one")
    found += _clear(comparison)
    if comparison.idle:
        found.append(
            f"{'; '.join(sorted(comparison.idle))}: less than {100 * IDLE:g} % of the best goodput; queues, RTTs, "
            "losses and fairness of an idle rack are not comparable"
        )
    return [*found, *comparison.notes]


def _clear(comparison: Comparison) -> list[str]:
    """What decides between better, worse and equal, and how often chance alone would."""
    fewest = {min(len(one.runs), len(other.runs)) for one, other in _held(comparison)}
    if not fewest:
        return []
    n = min(fewest)
    if chance(n, n) > MOST_CHANCE:
        return [f"with {counted(n, 'run')} of a variant nothing is called better or worse; 3 of each are needed"]
    return [
        f"green: better than the baseline, red: worse; by more than {100 * NOTEWORTHY:g} %, with no common interval. "
        f"Of a hundred figures that are equal, chance alone colours {100 * chance(n, n):.2g} with {n} runs"
    ]


def _held(comparison: Comparison) -> list[tuple[Variant, Variant]]:
    pairs = ((one, comparison.baseline_of(one)) for one in comparison.variants)
    return [(one, base) for one, base in pairs if base is not None and base is not one and one.runs and base.runs]


def _metrics(comparison: Comparison) -> list[Figure]:
    """The metrics that anybody has, without those per host that say the same as those per flow: every host has one."""
    every = comparison.variants
    same = {metric.name for metric in comparison.metrics if metric.same_as and all(map(_same_as(metric), every))}
    known = (one for one in comparison.metrics if any(math.isfinite(each.estimate(one.name).median) for each in every))
    return [metric for metric in known if metric.name not in same]


def _same_as(metric: Figure) -> Callable[[Variant], bool]:
    return lambda variant: variant.values(metric.name) == variant.values(metric.same_as)


def table(comparison: Comparison, here: Sequence[Variant]) -> Table:
    """One scenario; the baseline is the first of its contenders."""
    here = sorted(here, key=lambda one: not comparison.is_baseline(one))
    heads = [_heading(comparison, one) for one in here]
    body = [[Cell(metric.title), *(_cell(comparison, one, metric) for one in here)] for metric in _metrics(comparison)]
    dominated = [Cell("dominated"), *(_dominance(comparison, one) for one in here)]
    return Table([*body, dominated], [Cell(), *heads], notes="below")


def _cell(comparison: Comparison, variant: Variant, metric: Figure) -> Cell:
    """Median and difference to the baseline; interval."""
    found = variant.estimate(metric.name)
    if not comparison.comparable(variant, metric.name):
        return Cell(metric.number(found.median), "not comparable", "dim")
    change = _change(comparison.relative(variant, metric.name))
    interval = f"{metric.number(found.low)}..{metric.number(found.high)}" if found.has_interval else ""
    word = comparison.judged(variant, metric.name)
    mark = word if word in ("better", "worse") else ""
    return Cell(f"{metric.number(found.median)}  {change}".rstrip(), interval, mark=mark)


def _change(relative: float) -> str:
    """A few per cent as such, ten times as much as a factor."""
    if not math.isfinite(relative):
        return ""
    if abs(relative) < ROUNDING:
        return "same"
    return f"{100 * relative:+.3g} %" if relative < 9 else f"x {1 + relative:,.0f}"


def _heading(comparison: Comparison, variant: Variant) -> Cell:
    doubtful = variant.degraded or variant.restless or variant.name in comparison.idle
    return Cell(variant.contender, _runs(comparison, variant), "bold", "yellow" if doubtful else "dim", prose=True)


def _runs(comparison: Comparison, variant: Variant) -> str:
    """How many runs a variant has, and what is to be known of them."""
    runs = counted(len(variant.runs), "run")
    degraded = f", {variant.degraded} degraded" if variant.degraded else ""
    restless = f", {variant.restless} not at rest" if variant.restless else ""
    idle = ", delivers next to nothing" if variant.name in comparison.idle else ""
    return f"{runs}{degraded}{restless}{idle}{', baseline' if comparison.is_baseline(variant) else ''}"


def _dominance(comparison: Comparison, variant: Variant) -> Cell:
    """Who dominates it."""
    by = comparison.dominated_by[variant.name]
    return Cell(f"by {'; '.join(by)}", style="yellow", prose=True) if by else Cell("-" if by is None else "no")


def _title(here: Sequence[Variant], scenario: str) -> str:
    names = dict.fromkeys(run.summary.experiment for one in here for run in one.runs)
    return " · ".join([*names, *([scenario] if scenario and scenario not in names else [])])
