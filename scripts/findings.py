"""Fill the tables of docs/findings/*.md from the runs that are kept in docs/findings/results: ``make findings``.

A page is written by hand but for its tables. From ``<!-- adpg-table-2 -->`` to the next ``<!-- end -->`` stands the
comparison of that name, of results/adpg-table-2.csv. With ``FROM=FOLDER``, where `testbed reproduce all --engine
virtual --out FOLDER` left its runs, each of them replaces the one that was kept.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from testbed.results.compare.median import coverage, rank
from testbed.results.papers import comparison as published
from testbed.results.papers import kept, table
from testbed.results.papers.cells import Measured
from testbed.results.papers.figures import Figures
from testbed.runs.reproduce.cells import table_cells
from testbed.runs.reproduce.measure import collect

PAGES = Path(__file__).resolve().parents[1] / "docs/findings"
BLOCK = re.compile(r"(<!-- ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
ENGINE = "virtual"


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
    return BLOCK.sub(lambda found: f"{found[1]}\n{_block(results / f'{found[2]}.csv')}\n\n{found[3]}", page)


def _block(file: Path) -> str:
    comparison = published.load(file.stem)
    measured = kept.from_csv(comparison, file.read_text(encoding="utf-8"))
    return f"{table.tables(Figures(comparison, measured))}\n\n{_said(comparison.name, measured)}"


def _said(name: str, measured: Measured) -> str:
    """Where the figures come from, and how certain they are."""
    runs = [one for by_seed in measured.summaries.values() for one in by_seed.values()]
    if not runs:
        return f"Not run yet: `testbed reproduce {name} --engine {ENGINE}`."
    bad = sum(one.verdict.word != kept.CLEAN for one in runs)
    counts = sorted({len(by_seed) for by_seed in measured.summaries.values()})
    seeds = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1])))) + (" seed" if counts[-1] == 1 else " seeds")
    certain = ", ".join(f"{n} seeds: {100 * coverage(n, rank(n)):.0f} %" for n in counts if n > 1)
    brackets = f", in brackets the interval that holds the true one ({certain})" if certain else ""
    return (
        f"`testbed reproduce {name} --engine {ENGINE}`: {len(runs)} runs, {seeds} a cell, {bad or 'none'} degraded. "
        f"Medians{brackets}. = equal by the comparison's rule, + better, - worse."
    )


def main(arguments: list[str]) -> int:
    """Fill every page."""
    for runs in arguments:
        keep(Path(runs), PAGES / "results")
    for file in sorted(PAGES.glob("*.md")):
        file.write_text(filled(file.read_text(encoding="utf-8"), PAGES / "results"), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
