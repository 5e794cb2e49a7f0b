"""A comparison as text: metrics down, contenders across, one table per scenario; readable at 80 columns and piped."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from testbed.results.compare import pareto
from testbed.results.compare.comparison import Comparison
from testbed.results.compare.median import coverage, rank
from testbed.results.compare.metrics import Metric
from testbed.results.compare.variants import Variant

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

NARROWEST = 80
LABEL, GAP = 15, 2
NARROWEST_COLUMN = 12


def render(comparison: Comparison, width: int) -> RenderableType:
    """All scenarios for rich. Contenders that have no room go into a further table below."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for scenario, here in comparison.scenarios.items():
        parts.append(Text(_title(here, scenario), style="bold"))
        for some in _that_fit(comparison, here, max(width, NARROWEST)):
            parts += [_table(comparison, some), Text()]
    return Group(*parts, *(Text(note, style="dim") for note in footnotes(comparison)))


def footnotes(comparison: Comparison) -> list[str]:
    """How the figures are to be read."""
    counts = {len(one.runs) for one in comparison.variants if len(one.runs) > 1}
    found = ["medians of the runs, with the difference to the baseline's; decision: wall time"]
    if counts:
        covers = ", ".join(f"{100 * coverage(n, rank(n)):.3g} % with {n} runs" for n in sorted(counts))
        found.append(f"below: the interval that holds the true median with a probability of {covers}")
    units = ", ".join(metric.title.replace(",", " in") for metric in pareto.RULE)
    found.append(f"dominated: by the ADPG paper's Definition 1 over {units}; differences up to 5 are equal")
    return [*found, *comparison.notes]


def rows(comparison: Comparison) -> list[Metric]:
    """The metrics, without those per host that say the same as those per flow: every host has one flow."""
    every = comparison.variants
    same = {metric.name for metric in comparison.metrics if metric.same_as and all(map(_same_as(metric), every))}
    return [metric for metric in comparison.metrics if metric.name not in same]


def _same_as(metric: Metric) -> Callable[[Variant], bool]:
    return lambda variant: variant.values(metric.name) == variant.values(metric.same_as)


def cell(comparison: Comparison, variant: Variant, metric: Metric) -> tuple[str, str]:
    """A figure as two lines: median and difference to the baseline; interval."""
    found = variant.estimate(metric.name)
    change = _change(comparison.relative(variant, metric.name))
    interval = f"{metric.show(found.low)}..{metric.show(found.high)}" if found.has_interval else ""
    return f"{metric.show(found.median)}  {change}".rstrip(), interval


def _change(relative: float) -> str:
    """A few per cent as such, ten times as much as a factor."""
    if not math.isfinite(relative):
        return ""
    if relative == 0:
        return "same"
    return f"{100 * relative:+.3g} %" if relative < 9 else f"x {1 + relative:,.0f}"


def heading(comparison: Comparison, variant: Variant) -> str:
    """How many runs a variant has, and what is to be known of them."""
    runs = f"{len(variant.runs)} run{'' if len(variant.runs) == 1 else 's'}"
    degraded = f", {variant.degraded} degraded" if variant.degraded else ""
    return f"{runs}{degraded}{', baseline' if comparison.is_baseline(variant) else ''}"


def dominance(comparison: Comparison, variant: Variant) -> str:
    """Who dominates it."""
    by = comparison.dominated_by[variant.name]
    return "-" if by is None else f"by {'; '.join(by)}" if by else "no"


def _title(here: Sequence[Variant], scenario: str) -> str:
    names = dict.fromkeys(run.summary.experiment for one in here for run in one.runs)
    return " · ".join([*names, *([scenario] if scenario and scenario not in names else [])])


def _table(comparison: Comparison, some: Sequence[Variant]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, GAP, 0, 0))
    table.add_column(width=LABEL, no_wrap=True, style="bold")
    for one in some:
        table.add_column(justify="right", width=_width(comparison, one) - GAP, overflow="fold")
    table.add_row("", *(Text(one.contender, style="bold") for one in some))
    table.add_row("", *(Text(heading(comparison, one), style="yellow" if one.degraded else "dim") for one in some))
    for metric in rows(comparison):
        cells = [cell(comparison, one, metric) for one in some]
        table.add_row(metric.title, *(_two_lines(*both) for both in cells))
    dominated = [dominance(comparison, one) for one in some]
    table.add_row("dominated", *(Text(text, style="yellow" if text.startswith("by ") else "") for text in dominated))
    return table


def _two_lines(first: str, second: str) -> Text:
    from rich.text import Text

    return Text.assemble(first, ("\n" + second if second else "", "dim"))


def _that_fit(comparison: Comparison, here: Sequence[Variant], width: int) -> Iterator[Sequence[Variant]]:
    """The contenders in groups that fit into the width; the baseline is the first of each."""
    widths = {one.name: _width(comparison, one) for one in here}
    first = [one for one in here if comparison.is_baseline(one)][:1]
    rest = [one for one in here if one not in first]
    while True:
        group, used = list(first), LABEL + GAP + sum(widths[one.name] for one in first)
        while rest and (len(group) <= len(first) or used + widths[rest[0].name] <= width):
            used += widths[rest[0].name]
            group.append(rest.pop(0))
        yield group
        if not rest:
            return


def _width(comparison: Comparison, variant: Variant) -> int:
    """Of its figures; what stands above and below them may be folded."""
    lines = [line for metric in rows(comparison) for line in cell(comparison, variant, metric)]
    return GAP + max(NARROWEST_COLUMN, *map(len, lines))
