"""What is said below a comparison's tables: how to read them, what was run, what was cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from testbed.results.flat import flat
from testbed.results.papers.cells import TableCell, cuts
from testbed.results.papers.comparison import Comparison
from testbed.results.papers.figures import Figures
from testbed.results.record import SIMULATED

DAGGER, MISS = "\u2020", "\u2260"


def notes(figures: Figures, table_cells: list[TableCell], quick: bool) -> Iterator[str]:
    """How to read the tables: source, rule, what was run, what was cut."""
    comparison = figures.comparison
    yield f"Printed: {comparison.source.paper}, {comparison.source.where}. {comparison.source.setup}"
    yield f"Medians of our runs. = equal to the printed number, {MISS} a miss, even if better; {comparison.equal.rule}."
    if any(one.run.in_kernel for one in table_cells):
        slower = "" if quick else ", slower as well"
        yield f"{DAGGER} a run behind it is degraded{slower}: partly about this machine."
    for word, meaning in comparison.words.items():
        yield f"{word}: {meaning}."
    for metric in comparison.metrics.values():
        if metric.meaning:
            yield f"{metric.label}: {metric.meaning}."
        if metric.equal is not None:
            yield f"{metric.label}: {metric.equal.rule}."
    for row in dict.fromkeys(one.row for one in table_cells):
        yield f"{row} here: {_how(comparison, row, table_cells)}."
    yield from _setting(table_cells)
    if quick:
        yield f"--quick: {'; '.join(cuts(comparison))}."
    yield from comparison.notes
    yield from (f"{column.label}: {column.note}" for column in comparison.columns.values() if column.note)
    yield from (f"Failed: {cell}: {why}" for cell, why in figures.measured.failures.items())
    yield from (f"Cannot be run: {refusal}" for refusal in figures.measured.refused)
    yield from _degraded(figures)
    yield from _restless(figures)


def _restless(figures: Figures) -> Iterator[str]:
    for (row, column), behind in figures.measured.summaries.items():
        if found := figures.measured.restless(row, column):
            label = figures.comparison.columns[column].label
            yield f"Not at rest: {row}, {label}: {len(found)} of {len(behind)} runs: {found[0]}"


def _degraded(figures: Figures) -> Iterator[str]:
    for row, column in figures.measured.summaries:
        bad = figures.measured.degraded(row, column)
        if bad:
            label = figures.comparison.columns[column].label
            reasons = "; ".join(map(str, bad[0].verdict.reasons[:2]))
            yield f"{DAGGER} {row}, {label}: {len(bad)} of {len(figures.measured.of(row, column))} runs: {reasons}"


def _how(comparison: Comparison, row: str, table_cells: list[TableCell]) -> str:
    """Controller, presets and options, thresholds and PFC: a table without them says nothing."""
    here = comparison.rows[row].here
    assert here is not None
    experiment = next(one.run.experiment for one in table_cells if one.row == row)
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


def _setting(table_cells: list[TableCell]) -> Iterator[str]:
    """Rack and times of the runs, column by column where they differ."""
    said: dict[str, list[str]] = {}
    for one in table_cells:
        known = flat(one.run.experiment)
        rack = f"{known['rack.link.rate']} links, {known['rack.switch.buffer']} buffer"
        how = f"dilation {float(known['time.dilation']):g}" if one.run.in_kernel else SIMULATED[known["engine"]]
        time = f"{known['time.duration']} of which {known['time.warmup']} warm-up, {how}"
        payload = f"packets of {known['traffic.payload']}" if "traffic.payload" in known else ""
        told = ", ".join(part for part in (rack, payload, time) if part)
        said.setdefault(told, [])
        if one.column not in said[told]:
            said[told].append(one.column)
    for told, columns in said.items():
        yield f"Runs{'' if len(said) == 1 else ' of ' + ', '.join(columns)}: {told}."
