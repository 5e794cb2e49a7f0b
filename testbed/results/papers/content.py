"""The words of the table, for a terminal and for Markdown alike: cells, and the notes that say how to read them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from testbed.results.flat import flat
from testbed.results.papers.cells import Place, cuts
from testbed.results.papers.comparison import Comparison, Metric
from testbed.results.papers.figures import Beside, Figures
from testbed.results.papers.judge import Judgement, judge

DAGGER = "\u2020"
SIGNS = {"equal": "=", "better": "+", "worse": "-", "": ""}
NOT_HERE, NOT_RUN = "not implemented here", "not run"


def heading(metric: Metric) -> str:
    """``QL, us``."""
    return f"{metric.label}, {metric.unit}" if metric.unit else metric.label


def ours(beside: Beside, metric: Metric) -> str:
    """Our median; a dagger if a run behind it is degraded."""
    if beside.ours is None or math.isnan(beside.ours.median):
        return "-"
    return f"{beside.ours.median:,.{metric.digits}f}{DAGGER if beside.degraded else ''}"


def printed(beside: Beside) -> str:
    """As the paper has it."""
    value = beside.printed
    return "" if value is None else value if isinstance(value, str) else f"{value:,g}"


def apart(beside: Beside, metric: Metric) -> str:
    """Ours less the paper's, and what the equality rule makes of it."""
    if not beside.word:
        return ""
    return f"{beside.difference:+,.{metric.digits}f} {SIGNS[beside.word]}"


def why_empty(figures: Figures, row: str, column: str) -> str:
    """What to show for a row that has no runs in a column."""
    if figures.measured.of(row, column) or figures.comparison.columns[column].best_of:
        return ""
    return NOT_RUN if row in figures.implemented else NOT_HERE


def empty(figures: Figures, column: str) -> Iterator[str]:
    """Which rows have no runs in a column, by reason."""
    for why in (NOT_HERE, NOT_RUN):
        rows = [row for row in figures.comparison.rows if why_empty(figures, row, column) == why]
        if rows:
            yield f"{why}: {', '.join(rows)}"


def orders(figures: Figures) -> Iterator[tuple[str, str, str, str]]:
    """The derived table: column, the paper's order and ours, whether they agree, who is how far off."""
    comparison, judged = figures.comparison, figures.comparison.judged
    higher = judged is not None and comparison.metrics[judged.order].better == "higher"
    sign = " > " if higher else " < "  # the best stands first
    for one in judge(figures):
        yield (
            comparison.columns[one.column].label,
            f"{sign.join(one.printed_order)}\n{sign.join(one.our_order)}",
            _agreement(one),
            _closeness(one),
        )


def _agreement(one: Judgement) -> str:
    if one.same_order:
        return "same order"
    pairs = "; ".join(map(str, one.reversed))
    return f"{'the same but for ties' if one.same_by_rule else 'another order'}: {pairs}"


def _closeness(one: Judgement) -> str:
    return ", ".join(
        f"{row} {difference:+.1f}{'' if row not in one.far else ' (far)'}" for row, difference in one.close.items()
    )


def order_headings(comparison: Comparison) -> tuple[str, str, str, str]:
    """Of `orders`."""
    judged = comparison.judged
    assert judged is not None
    order, close = (comparison.metrics[name] for name in (judged.order, judged.close))
    return "", f"by {order.label}: paper, here", "agrees?", f"{close.label} here - paper; far beyond {judged.within:g}"


def notes(figures: Figures, places: list[Place], quick: bool) -> Iterator[str]:
    """How to read the tables: source, rule, what was run, what was cut."""
    comparison = figures.comparison
    yield f"Printed: {comparison.source.paper}, {comparison.source.where}. {comparison.source.setup}"
    yield (
        f"Here: medians of the runs. = equal to the printed number, + better, - worse; {comparison.equal.rule}. "
        f"{DAGGER} a run behind it is degraded{'' if quick else ', slower as well'}: partly about this machine."
    )
    for word, meaning in comparison.words.items():
        yield f"{word}: {meaning}."
    for metric in comparison.metrics.values():
        if metric.meaning:
            yield f"{metric.label}: {metric.meaning}."
        if metric.equal is not None:
            yield f"{metric.label}: {metric.equal.rule}."
    for row in dict.fromkeys(place.row for place in places):
        yield f"{row} here: {_how(comparison, row, places)}."
    yield from _setting(places)
    if quick:
        yield f"--quick: {'; '.join(cuts(comparison))}."
    yield from comparison.notes
    yield from (f"{column.label}: {column.note}" for column in comparison.columns.values() if column.note)
    yield from (f"Failed: {cell}: {why}" for cell, why in figures.measured.failures.items())
    yield from (f"Cannot be run: {refusal}" for refusal in figures.measured.refused)
    yield from _degraded(figures)


def _degraded(figures: Figures) -> Iterator[str]:
    for row, column in figures.measured.summaries:
        bad = figures.measured.degraded(row, column)
        if bad:
            label = figures.comparison.columns[column].label
            reasons = "; ".join(map(str, bad[0].verdict.reasons[:2]))
            yield f"{DAGGER} {row}, {label}: {len(bad)} of {len(figures.measured.of(row, column))} runs: {reasons}"


def _how(comparison: Comparison, row: str, places: list[Place]) -> str:
    """Controller, presets and options, thresholds and PFC: a table without them says nothing."""
    here = comparison.rows[row].here
    assert here is not None
    experiment = next(place.cell.experiment for place in places if place.row == row)
    said = [f"controller {here.controller} ({_choice(experiment, 'controller', here.settings)})"]
    said.append(f"ECN {here.tuner} ({_choice(experiment, 'tuner', here.settings)})")
    pfc = experiment["rack"].get("switch", {}).get("pfc")
    said.append("no PFC" if pfc in (None, "off") else "PFC")
    said += [f"{key}={value}" for key, value in here.settings.items() if not key.startswith(("controller.", "tuner."))]
    return "; ".join(said) + (f" - {here.why}" if here.why else "")


def _choice(experiment: dict[str, Any], kind: str, settings: dict[str, Any]) -> str:
    block = experiment[kind]
    options = [f"{key.partition('.')[2]}={value}" for key, value in settings.items() if key.startswith(f"{kind}.")]
    preset = [f"preset={block['preset']}"] if block.get("preset") and f"{kind}.preset" not in settings else []
    window = [f"window={block['window']}"] if "window" in block and f"{kind}.window" not in settings else []
    return ", ".join([*preset, *options, *window]) or "defaults"


def _setting(places: list[Place]) -> Iterator[str]:
    """Rack and times of the runs, column by column where they differ."""
    said: dict[str, list[str]] = {}
    for place in places:
        known = flat(place.cell.experiment)
        rack = f"{known['rack.link.rate']} links, {known['rack.switch.buffer']} buffer"
        dilation = f"dilation {float(known['time.dilation']):g}"
        time = f"{known['time.duration']} of which {known['time.warmup']} warm-up, {dilation}"
        payload = f"packets of {known['traffic.payload']}" if "traffic.payload" in known else ""
        told = ", ".join(part for part in (rack, payload, time) if part)
        said.setdefault(told, [])
        if place.column not in said[told]:
            said[told].append(place.column)
    for told, columns in said.items():
        yield f"Runs{'' if len(said) == 1 else ' of ' + ', '.join(columns)}: {told}."
