"""`testbed reproduce`: a paper's table, or a test plan of operators, run here."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli.shared import Engine, Jobs, On, choice, print_json
from testbed.errors import BadInput, TestbedError, nearest

if TYPE_CHECKING:
    from testbed.results.papers.cells import Measured, TableCell
    from testbed.results.papers.comparison import Comparison
    from testbed.results.papers.figures import Figures
    from testbed.runs.sweep.hire import Wanted


ALL = "all"
PLANS = ("sonic-rocev2", "sonic-ecn")  # `testbed.runs.plans.shipped`, which takes long to import


class TableFormat(StrEnum):
    """How the comparison is printed."""

    text = "text"
    json = "json"
    markdown = "markdown"
    csv = "csv"


def reproduce(  # noqa: PLR0917 - one parameter per option
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="A published comparison, 'all', a file of your own, or a test plan.")
    ] = "",
    list_: Annotated[bool, typer.Option("--list", help="List them, and where they were printed.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A part, up to ten minutes; says what it cut.")] = False,
    row: Annotated[
        list[str] | None, typer.Option(metavar="ROW", help="Run only this row, of a plan this case; may be repeated.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Run only this column, of a plan this line rate; may be repeated."),
    ] = None,
    switch: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Test this switch with a plan: SONiC's config_db.json.")
    ] = None,
    engine: Engine = None,
    jobs: Jobs = None,
    on: On = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder for the runs; one begun there goes on.")
    ] = None,
    no_run: Annotated[
        bool, typer.Option("--no-run", help="Run nothing: the printed numbers, and what is in --out.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check all runs and list them; run nothing.")] = False,
    format: Annotated[TableFormat, choice(TableFormat, "How the comparison is printed on stdout.")] = TableFormat.text,
) -> None:
    """Run a comparison that a paper printed, and print ours beside it.

        testbed reproduce adpg-table-2 --engine virtual --jobs 2 --out adpg
        testbed reproduce sonic-rocev2 --switch config_db.json --row 2

    Without NAME it lists the comparisons. Test plans of operators (`sonic-rocev2`, `sonic-ecn`) are judged
    (docs/howto/reproduce.md). Exit code 3: a figure is degraded; 1: a run failed, or an expectation does not hold.
    """
    if name in PLANS:
        from testbed.cli import reproduce_plan

        given = {"--no-run": no_run, "--dry-run": dry_run, "--jobs": jobs, "--on": on}
        reproduce_plan.check(name, given, str(format))
        carried = reproduce_plan.engine_of(name, engine)
        of_plan = reproduce_plan.Asked(name, row or [], column or [], switch, carried, quick=quick)
        raise typer.Exit(reproduce_plan.answer(of_plan, out, as_json=format == "json"))
    if switch is not None:
        raise BadInput(f"--switch {switch}: is for test plans ({', '.join(PLANS)})")
    from testbed.results.papers import comparison as published

    if list_ or not name:
        _list(format)
        return
    if name != ALL:
        wanted = [published.load(name)]
        _check("--row", row, wanted[0].rows)
        _check("--column", column, wanted[0].columns)
        if quick:
            _check_quick(column, wanted[0].quick.columns)
    elif row or column or format in {TableFormat.json, TableFormat.csv}:
        raise BadInput(f"{ALL}: --row, --column, and --format {format} are for one comparison; name it")
    else:
        wanted = [published.load(each) for each in published.names()]
    from testbed.runs.sweep.hire import Wanted

    asked = Asked(row or [], column or [], engine or "", Wanted(jobs, on), quick, no_run, format)
    if dry_run:
        _dry_run([cell for one in wanted for cell in asked.selected(asked.cells(one, []))], jobs or 1, format)
        return
    codes = [asked.answer(one, out / one.name if out and name == ALL else out) for one in wanted]
    raise typer.Exit(next((code for code in (1, 3) if code in codes), 0))


@dataclass(frozen=True)
class Asked:
    """What is wanted of every comparison."""

    rows: list[str]
    columns: list[str]
    engine: str
    workers: Wanted
    quick: bool
    no_run: bool
    format: TableFormat

    def cells(self, comparison: Comparison, refused: list[str]) -> list[TableCell]:
        """Every run of the comparison; what cannot be run is said, and named in ``refused``."""
        from testbed.runs.reproduce.cells import table_cells

        every = table_cells(comparison, quick=self.quick, refused=refused, engine=self.engine)
        for refusal in refused:
            print(f"cannot be run: {refusal}", file=sys.stderr)
        return every

    def selected(self, every: list[TableCell]) -> list[TableCell]:
        """Those of the rows and columns that were named."""
        from testbed.runs.reproduce.measure import selected

        return selected(every, self.rows, self.columns)

    def answer(self, comparison: Comparison, out: Path | None) -> int:
        """Run it, print it; the exit code."""
        from testbed.results.papers.figures import Figures
        from testbed.runs.reproduce.cells import in_kernel

        if not self.no_run and not self.workers.on and in_kernel(comparison, quick=self.quick, engine=self.engine):
            from testbed.engines.kernel import doctor

            doctor.require()
        refused: list[str] = []
        every = self.cells(comparison, refused)
        measured = self._measured(comparison, every, out)
        measured.refused = [*refused, *measured.refused]
        _print(Figures(comparison, measured), every, self.quick, self.format)
        if measured.interrupted:
            raise TestbedError("the comparison was ended early; the same command with the same --out goes on")
        degraded = any(measured.degraded(*cell) for cell in measured.summaries)
        return 1 if measured.failures else 3 if degraded else 0

    def _measured(self, comparison: Comparison, every: list[TableCell], out: Path | None) -> Measured:
        from testbed.results.papers.cells import Measured
        from testbed.runs.reproduce import measure

        if self.no_run:
            return measure.collect(out.expanduser(), every) if out is not None else Measured()
        asked = self.selected(every)
        folder = measure.prepare(out, comparison.name)
        if not asked:
            print("nothing to run: no row that is asked for is implemented here, or no column is run", file=sys.stderr)
            return measure.collect(folder, every)
        print(f"{len(asked)} runs, {_time(asked, self.workers.jobs or 1)}, to {folder}", file=sys.stderr)
        return measure.collect(folder, every, measure.run(folder, asked, again=not self.quick, workers=self.workers))


def _print(figures: Figures, every: list[TableCell], quick: bool, format: TableFormat) -> None:
    if format is TableFormat.json:
        from testbed.results.papers.as_json import as_dict

        print_json(as_dict(figures, every, quick=quick))
    elif format is TableFormat.csv:
        from testbed.results.papers import kept

        print(kept.to_csv(figures.comparison, figures.measured), end="")
    elif format is TableFormat.markdown:
        from testbed.results.papers.table import markdown

        print(markdown(figures, every, quick=quick))
    else:
        from rich.console import Console

        from testbed.results.papers.table import render

        Console().print(render(figures, every, quick=quick))


def _list(format: TableFormat) -> None:
    from testbed.results.papers.comparison import load, names
    from testbed.runs.plans import shipped

    found, plans = [load(name) for name in names()], shipped.PLANS.values()
    if format is TableFormat.json:
        printed = [{"name": one.name, "title": one.title, "source": one.source.model_dump()} for one in found]
        print_json([*printed, *({"name": one.name, "title": one.title, "source": one.source} for one in plans)])
        return
    width = max(len(one.name) for one in found)
    for one in found:
        print(f"{one.name:<{width}}  {one.title} ({one.source.paper}, {one.source.where})")
    for plan in plans:
        print(f"{plan.name:<{width}}  {plan.title} ({plan.source})")


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


def _check_quick(given: list[str] | None, allowed: list[str]) -> None:
    """A column that `--quick` leaves out would be asked for and not run."""
    for name in given or []:
        if name not in allowed:
            raise BadInput(f"--column {name}: not among those of --quick ({', '.join(allowed)}); leave out --quick")
