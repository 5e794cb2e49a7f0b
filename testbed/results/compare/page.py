"""The folder of a comparison: one page that opens offline, its figures as JSON, its plots as SVG.

comparison.html   dot plots and table, curves on top of each other
comparison.json   what ``--format json`` prints
plots/            the plots for print
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from testbed.errors import TestbedError
from testbed.results import folder as results
from testbed.results.compare.comparison import Comparison, GateResult, as_json
from testbed.results.compare.dots import strips
from testbed.results.compare.looks import slug
from testbed.results.compare.plots import overlays
from testbed.results.compare.table import footnotes, table
from testbed.results.compare.trends import trends
from testbed.results.report import page, vector
from testbed.results.report.plot import Plot

PAGE, DATA, PLOTS = "comparison.html", "comparison.json", "plots"
READ = "every run is a faint dot, their median a full one on its interval; the line is the baseline's median"
LONGEST = 60  # letters of the contenders in the heading


def write(folder: Path, comparison: Comparison, gates: Sequence[GateResult]) -> None:
    """Everything at once: the folder gets its name when it is complete. Raises TestbedError."""
    above, below = trends(comparison), overlays(comparison)
    every = [*above, *(plot for plots in below.values() for plot in plots)]
    dots = {scenario: strips(comparison, here) for scenario, here in comparison.scenarios.items()}
    try:
        with results.beside(folder) as unfinished:
            (unfinished / PLOTS).mkdir()
            for name, svg in vector.svgs(every).items():
                (unfinished / PLOTS / name).write_text(svg, encoding="utf-8")
            for scenario, drawn in dots.items():
                for name, svg in drawn.items():
                    file = unfinished / PLOTS / f"{slug(f'dots {name} {scenario}')}.svg"
                    file.write_text(vector.standalone(svg), encoding="utf-8")
            told = json.dumps(as_json(comparison, gates), indent=2)
            (unfinished / DATA).write_text(told + "\n", encoding="utf-8")
            (unfinished / PAGE).write_text(_page(comparison, gates, dots, above, below), encoding="utf-8")
            results.complete(unfinished).rename(folder)  # replaces an empty folder, and nothing else
    except OSError as error:
        raise TestbedError(f"the comparison could not be written to {folder}: {error.strerror or error}") from None


def _page(
    comparison: Comparison,
    gates: Sequence[GateResult],
    dots: dict[str, dict[str, str]],
    above: list[Plot],
    below: dict[str, list[Plot]],
) -> str:
    title = f"{', '.join(comparison.experiments)}: {_contenders(comparison)} compared"
    parts = [f"<h1>{escape(title)}</h1>", *map(_gate, gates)]
    parts += [page.HINT, page.figures(above)]
    parts.append(f'<p class="note">{READ}</p>')
    for scenario, here in comparison.scenarios.items():
        drawn_dots = "\n".join(f"<figure>{svg}</figure>" for svg in dots[scenario].values())
        parts += [f"<h2>{escape(scenario)}</h2>" if scenario else "", f'<div class="dots">{drawn_dots}</div>']
        parts.append(f'<section class="compared">{table(comparison, here).html()}</section>')
    parts += [f'<p class="note">{escape(note)}</p>' for note in footnotes(comparison)]
    drawn = len(above)
    for scenario, plots in below.items():
        parts += [f"<h2>{escape(scenario)}</h2>" if scenario else "", page.figures(plots, drawn)]
        drawn += len(plots)
    if len(below) < len(comparison.scenarios):
        parts.append(f'<p class="note">curves of the first {len(below)} of {len(comparison.scenarios)} scenarios</p>')
    parts.append(_runs(comparison))
    every = [*above, *(plot for plots in below.values() for plot in plots)]
    return page.document(title, "\n".join(parts), every)


def _contenders(comparison: Comparison) -> str:
    names = "; ".join(comparison.contenders)  # whose options have commas
    return names if len(names) <= LONGEST else f"{len(comparison.contenders)} contenders"


def _gate(result: GateResult) -> str:
    listed = "".join(f"<li>{escape(each.variant)}: {escape(each.why)}</li>" for each in result.failures)
    word, colour = ("fails", "degraded") if result.failures else ("passes", "clean")
    return f'<div class="verdict {colour}"><strong>{escape(result.gate.text)}</strong> {word}<ul>{listed}</ul></div>'


def _runs(comparison: Comparison) -> str:
    lines = [
        f"{run.summary.verdict.word:<8}  seed {run.manifest.seed}  {variant.name}  {run.folder}"
        for variant in comparison.variants
        for run in variant.runs
    ]
    told = escape("\n".join(lines), quote=False)
    return f"<details><summary>{len(lines)} runs</summary><pre>{told}</pre></details>"
