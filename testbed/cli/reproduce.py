"""`testbed reproduce`: a paper's table, run here."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli.shared import Engine, Jobs, On, print_json
from testbed.errors import BadInput, TestbedError, nearest

if TYPE_CHECKING:
    from testbed.results.papers.cells import Measured, TableCell
    from testbed.results.papers.comparison import Comparison
    from testbed.results.papers.figures import Figures
    from testbed.runs.sweep.hire import Wanted


class TableFormat(StrEnum):
    """How the comparison is printed."""

    text = "text"
    json = "json"
    markdown = "markdown"


def reproduce(  # noqa: PLR0917 - one parameter per option
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="A published comparison, or a file of your own.")] = "",
    list_: Annotated[bool, typer.Option("--list", help="List the comparisons and where they were printed.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A part that takes up to ten minutes; says what it cut.")
    ] = False,
    row: Annotated[list[str] | None, typer.Option(help="Run only this row; may be repeated.")] = None,
    column: Annotated[list[str] | None, typer.Option(help="Run only this column; may be repeated.")] = None,
    engine: Engine = None,
    jobs: Jobs = None,
    on: On = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the runs; one begun there goes on.")] = None,
    no_run: Annotated[
        bool, typer.Option("--no-run", help="Run nothing: the printed numbers, and what is in --out.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check all runs and list them; run nothing.")] = False,
    format: Annotated[TableFormat, typer.Option(help="How the comparison is printed on stdout.")] = TableFormat.text,
) -> None:
    """Run a comparison that a paper printed, and print ours beside it.

    `make bench` of the repository is another thing: it measures how fast the testbed itself is.
    """
    from testbed.results.papers import comparison as published

    if list_ or not name:
        _list(format)
        return
    wanted = published.load(name)
    _check("--row", row, wanted.rows)
    _check("--column", column, wanted.columns)
    from testbed.runs.reproduce.cells import table_cells
    from testbed.runs.sweep.hire import Wanted

    workers = Wanted(jobs, on)
    refused: list[str] = []
    every = table_cells(wanted, quick=quick, refused=refused, engine=engine or "")
    for refusal in refused:
        print(f"cannot be run: {refusal}", file=sys.stderr)
    if dry_run:
        from testbed.runs.reproduce.measure import selected

        _dry_run(selected(every, row or [], column or []), jobs or 1, format)
        return
    asked = {"rows": row or [], "columns": column or []}
    measured = _measured(wanted, every, out, quick=quick, no_run=no_run, workers=workers, **asked)
    measured.refused = [*refused, *measured.refused]
    from testbed.results.papers.figures import Figures

    _print(Figures(wanted, measured), every, quick, format)
    if measured.interrupted:
        raise TestbedError("the comparison was ended early; the same command with the same --out goes on")
    degraded = any(measured.degraded(*cell) for cell in measured.summaries)
    raise typer.Exit(1 if measured.failures else 3 if degraded else 0)


def _measured(
    wanted: Comparison,
    every: list[TableCell],
    out: Path | None,
    *,
    quick: bool,
    no_run: bool,
    workers: Wanted,
    rows: list[str],
    columns: list[str],
) -> Measured:
    from testbed.runs.reproduce import measure

    if no_run:
        from testbed.results.papers.cells import Measured

        return measure.collect(out.expanduser(), every) if out is not None else Measured()
    asked = measure.selected(every, rows, columns)
    folder = measure.prepare(out, wanted.name)
    if not asked:
        print("nothing to run: no row that is asked for is implemented here, or no column is run", file=sys.stderr)
        return measure.collect(folder, every)
    print(f"{len(asked)} runs, {_time(asked, workers.jobs or 1)}, to {folder}", file=sys.stderr)
    return measure.collect(folder, every, measure.run(folder, asked, again=not quick, workers=workers))


def _print(figures: Figures, every: list[TableCell], quick: bool, format: TableFormat) -> None:
    if format is TableFormat.json:
        from testbed.results.papers.as_json import as_dict

        print_json(as_dict(figures, every, quick=quick))
    elif format is TableFormat.markdown:
        from testbed.results.papers.table import markdown

        print(markdown(figures, every, quick=quick))
    else:
        from rich.console import Console

        from testbed.results.papers.table import render

        Console().print(render(figures, every, quick=quick))


def _list(format: TableFormat) -> None:
    from testbed.results.papers.comparison import load, names

    found = [load(name) for name in names()]
    if format is TableFormat.json:
        print_json([{"name": one.name, "title": one.title, "source": one.source.model_dump()} for one in found])
        return
    width = max(len(one.name) for one in found)
    for one in found:
        print(f"{one.name:<{width}}  {one.title} ({one.source.paper}, {one.source.where})")


def _dry_run(every: list[TableCell], jobs: int, format: TableFormat) -> None:
    if format is TableFormat.json:
        print_json(
            [{"name": one.run.name, "seconds": one.run.seconds, "arguments": one.run.arguments} for one in every]
        )
        return
    for one in every:
        print(f"{one.run.name}  {_time([one])}")
    print(f"{len(every)} runs, {_time(every, jobs)}")


def _time(every: list[TableCell], jobs: int = 1) -> str:
    from testbed.base.progress import clock

    return f"about {clock(sum(one.run.seconds or 0.0 for one in every) / jobs)}"


def _check(option: str, given: list[str] | None, allowed: Mapping[str, object]) -> None:
    for name in given or []:
        if name not in allowed:
            raise BadInput(f"{option} {name}: not in this comparison; {nearest(name, list(allowed))}")
