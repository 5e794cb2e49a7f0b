"""Fill the tables of docs/findings/*.md from the runs that are kept in docs/findings/results: ``make findings``.

A page is written by hand but for its tables. From ``<!-- adpg-table-2 -->`` to the next ``<!-- end -->`` stands the
comparison of that name, of results/adpg-table-2.csv; one of several columns, or of more than `MOST_ROWS` or
`MOST_FIGURES`, as a picture, with its figures in tables/adpg-table-2.csv; it is drawn when these have changed or it is
not there. ``<!-- agreement -->`` is a picture of all of a page's comparisons, ``<!-- intervals -->`` one of
tables/jobs.csv, ``<!-- differences -->`` one of tables/simulators-uet.csv.
With ``FROM=FOLDER``, where `testbed reproduce all --engine virtual --out FOLDER` left its runs, each of them replaces
the one that was kept.
"""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from pathlib import Path

from finding_plot import agreement, differences, draw, intervals, pairs

from testbed.results.papers import comparison as published
from testbed.results.papers import kept, table
from testbed.results.papers.cells import NOT_ASKED, Measured
from testbed.results.papers.comparison import Comparison
from testbed.results.papers.figures import Figures, Pair
from testbed.results.papers.judge import judge
from testbed.runs.reproduce.cells import table_cells
from testbed.runs.reproduce.measure import collect

PAGES = Path(__file__).resolve().parents[1] / "docs/findings"
BLOCK = re.compile(r"(<!-- ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
ENGINE = "virtual"
AGREEMENT = "agreement"
DRAWN = {  # pictures beside those of comparisons: of which of the tables, and their words
    "intervals": (intervals, "jobs.csv", "Medians, the least and the most"),
    "differences": (differences, "simulators-uet.csv", "Times here against theirs"),
}
MOST_ROWS, MOST_FIGURES = 8, 20  # that anybody reads beside each other


def keep(runs: Path, results: Path) -> None:
    """Write what ``runs`` has of each comparison to ``results``; a run that it does not have stays."""
    for name in published.names():
        comparison, file = published.load(name), results / f"{name}.csv"
        if (runs / name).is_dir():
            measured = collect(runs / name, table_cells(comparison, engine=ENGINE))
            if file.is_file():
                before = kept.from_csv(comparison, file.read_text(encoding="utf-8"))
                measured.summaries |= {cell: old | measured.of(*cell) for cell, old in before.summaries.items()}
            file.write_text(kept.to_csv(comparison, measured), encoding="utf-8")


def filled(page: str, results: Path) -> str:
    """A page with its tables as the kept results in ``results`` make them."""

    def block(found: re.Match[str]) -> str:
        if found[2] in DRAWN:
            return f"{found[1]}\n{_drawn(found[2], results.parent / 'tables')}\n\n{found[3]}"
        if found[2] == AGREEMENT:
            return f"{found[1]}\n{_agreement(page, results)}\n\n{found[3]}"
        comparison = published.load(found[2])
        figures = _figures(comparison, results / f"{found[2]}.csv")
        told = f"{_told(found[2], figures, results.parent / 'tables')}\n\n{_said(found[2], figures.measured)}"
        return f"{found[1]}\n{told}\n\n{found[3]}"

    return BLOCK.sub(block, page)


def _drawn(name: str, tables: Path) -> str:
    drawn, file, told = DRAWN[name]
    with (tables / file).open(encoding="utf-8") as measured:
        drawn(csv.DictReader(measured), tables / f"{name}.svg")
    return f"![{told}](tables/{name}.svg)"


def _agreement(page: str, results: Path) -> str:
    names = [name for _, name, _ in BLOCK.findall(page) if name != AGREEMENT]
    tables = results.parent / "tables"
    tables.mkdir(exist_ok=True)
    found = {name: _figures(published.load(name), results / f"{name}.csv") for name in names}
    agreement(found, tables / f"{AGREEMENT}.svg")
    words = [pair.word for figures in found.values() for pair in pairs(figures) if pair.word]
    return (
        f"![Every printed figure of this page beside ours](tables/{AGREEMENT}.svg)\n\n"
        f"{words.count('equal')} of {len(words)} printed figures are ours by the rules of their comparisons, which say "
        "what counts as equal. Each dot is one."
    )


def _told(name: str, figures: Figures, tables: Path) -> str:
    """The table; a long one as a picture, with its figures in a file beside it."""
    comparison = figures.comparison
    rows = len(comparison.rows) * len(comparison.columns)
    if len(comparison.columns) == 1 and rows <= MOST_ROWS and rows * len(comparison.metrics) <= MOST_FIGURES:
        return "\n".join([table.scenarios(figures).markdown(), *_orders(figures)])
    tables.mkdir(exist_ok=True)
    picture, listed, made = tables / f"{name}.svg", tables / f"{name}.csv", _csv(figures)
    if not (picture.is_file() and listed.is_file() and listed.read_text(encoding="utf-8") == made):
        listed.write_text(made, encoding="utf-8")
        draw(figures, picture)
    return "\n".join(
        [f"![{comparison.title}](tables/{name}.svg)", "", f"[All figures](tables/{name}.csv).", *_orders(figures)]
    )


def _orders(figures: Figures) -> list[str]:
    """Which columns have the paper's order, and whose figure is far from its: a line each."""
    judged, columns, found = figures.comparison.judged, figures.comparison.columns, judge(figures)
    if judged is None or not found:
        return []
    by, close = (figures.comparison.metrics[name].label for name in (judged.order, judged.close))
    turned = {one.column: [f"{pair.first} and {pair.second}" for pair in one.reversed if not pair.tie] for one in found}
    told = {
        f"the paper's order by {by}": [columns[one.column].label for one in found if one.same_order],
        "the same but for ties": [columns[one.column].label for one in found if one.same_by_rule > one.same_order],
        "another order": [f"{columns[name].label} ({', '.join(pairs)})" for name, pairs in turned.items() if pairs],
        f"{close} more than {judged.within:g} from the printed": [
            f"{columns[one.column].label} {row} ({one.close[row]:+.1f})" for one in found for row in one.far
        ],
    }
    return ["", *(f"* {what}: {', '.join(where)}" for what, where in told.items() if where)]


def _csv(figures: Figures) -> str:
    lines = [["column", "row", "figure", "here", "low", "high", "printed", "word", "degraded"]]
    for column in figures.comparison.columns:
        for row in figures.comparison.rows:
            for name, metric in figures.comparison.metrics.items():
                pair = figures.pair(row, column, name)
                known = pair.ours and not math.isnan(pair.ours.median)
                here = (
                    [f"{one:.{metric.digits}f}" for one in (pair.ours.median, pair.ours.low, pair.ours.high)]
                    if (pair.ours and known)
                    else [""] * 3
                )
                if known or pair.printed is not None:
                    lines.append([column, row, metric.heading, *here, _printed(pair), pair.word, "yes" * pair.degraded])
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(lines)
    return written.getvalue()


def _figures(comparison: Comparison, file: Path) -> Figures:
    return Figures(comparison, kept.from_csv(comparison, file.read_text(encoding="utf-8")))


def _printed(pair: Pair) -> str:
    return f"{pair.printed:,g}" if isinstance(pair.printed, float | int) else pair.printed or ""


def _said(name: str, measured: Measured) -> str:
    """Where the figures come from."""
    runs = [one for by_seed in measured.summaries.values() for one in by_seed.values()]
    if not runs:
        return f"Not run yet: `testbed reproduce {name} --engine {ENGINE}`."
    bad = sum(one.verdict.word != kept.CLEAN for one in runs)
    moving = sum(len(measured.restless(*cell)) for cell in measured.summaries)
    asked = sum(one.unrest != NOT_ASKED for one in runs)
    all_asked = f"{moving} not at rest" if moving else "all at rest"
    at_rest = all_asked if asked == len(runs) else f"{asked - moving} of the {asked} that were asked at rest"
    counts = sorted({len(by_seed) for by_seed in measured.summaries.values()})
    seeds = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1])))) + (" seed" if counts[-1] == 1 else " seeds")
    told = [f"{len(runs)} runs", f"{seeds} a cell", *[f"{bad} degraded"] * (bad > 0), *[at_rest] * (asked > 0)]
    return f"`testbed reproduce {name} --engine {ENGINE}`: {', '.join(told)}."


def main(arguments: list[str]) -> int:
    """Fill every page."""
    for runs in arguments:
        keep(Path(runs), PAGES / "results")
    for file in sorted(PAGES.glob("*.md")):
        file.write_text(filled(file.read_text(encoding="utf-8"), PAGES / "results"), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
