"""More repeats of a sweep's combinations, until the intervals of their figures hold (`sweep --confidence`).

Order statistics say from how many repeats on an interval covers the median with a probability: six for 95 %. With
``within``, repeats are added until each interval is narrow enough as well, at most `MOST`. Who looks at the interval
after every repeat, and stops when it is narrow, is a little less certain than the interval says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from testbed.results import folder as results
from testbed.results.compare import pareto
from testbed.results.compare.median import coverage, estimate
from testbed.results.figures.registry import Figure
from testbed.results.summary import COMPARED, Summary
from testbed.results.sweep_plan import Cell, Plan, Until

MOST = 30
WATCHED = (*pareto.RULE, COMPARED["slowdown_p99"])  # whose intervals must be narrow


def fewest(confidence: float) -> int:
    """Repeats whose smallest and largest are such an interval; ``confidence`` in %."""
    return next(n for n in count(2) if coverage(n) >= confidence / 100)


def more(folder: Path, plan: Plan) -> Plan | None:
    """The plan with more repeats of every combination that needs them; None if none does, or nothing was asked."""
    if plan.until is None:
        return None
    taken, added = {cell.name for cell in plan.cells}, []
    for cells in _combinations(plan):
        found, last = _summaries(folder, cells), max(cell.seed for cell in cells)
        wanted = min(_lacking(found, plan.until), MOST - len(cells)) if found else 0  # else it fails every time
        for seed in range(last + 1, last + 1 + wanted):
            name = next(name for name in _names(cells[0].name, seed) if name not in taken)
            taken.add(name)
            added.append(cells[0].repeated(seed).model_copy(update={"name": name}))
    return plan.with_more(added) if added else None


def unheld(folder: Path, plan: Plan) -> list[str]:
    """The combinations whose intervals are still too wide, or too few, and why."""
    if plan.until is None:
        return []
    told = []
    for cells in _combinations(plan):
        found = _summaries(folder, cells)
        if _lacking(found, plan.until):
            wide = ", ".join(f"{metric.label} +-{100 * width:.2g} %" for metric, width in _wide(found, plan.until))
            told.append(f"{cells[0].name}: {wide or 'too few runs'} after {len(found)} runs with results")
    return told


def _combinations(plan: Plan) -> list[list[Cell]]:
    """Cells that differ by the seed alone."""
    found: dict[str, list[Cell]] = {}
    for cell in plan.cells:
        alike = json.dumps([cell.experiment | {"seed": 0}, cell.code], sort_keys=True)
        found.setdefault(alike, []).append(cell)
    return list(found.values())


def _lacking(found: Sequence[Summary], until: Until) -> int:
    """How many repeats more, about: an interval shrinks with the root of their number. At most as many as there are."""
    n = len(found)
    if n < fewest(until.confidence):
        return fewest(until.confidence) - n
    widest = max((width for _, width in _wide(found, until)), default=0.0)
    if until.within is None or not widest:
        return 0
    return min(n, math.ceil(n * ((100 * widest / until.within) ** 2 - 1)))


def _wide(found: Sequence[Summary], until: Until) -> list[tuple[Figure, float]]:
    """Figures whose interval reaches further from its middle than it may, and how far, as a share of the median."""
    if until.within is None or not found:
        return []
    widths = []
    for metric in WATCHED:
        one = estimate([float(getattr(summary, metric.name)) for summary in found], until.confidence / 100)
        width = (one.high - one.low) / 2 / abs(one.median) if one.median else math.nan
        if width > until.within / 100:
            widths.append((metric, width))
    return widths


def _summaries(folder: Path, cells: Sequence[Cell]) -> list[Summary]:
    return [results.load_summary(folder / cell.name) for cell in cells if (folder / cell.name).is_dir()]


def _names(name: str, seed: int) -> Iterator[str]:
    yield re.sub(r"seed=\d+(?=[^=]*$)", f"seed={seed}", name)
    yield from (f"{name}+{number}" for number in count(1))
