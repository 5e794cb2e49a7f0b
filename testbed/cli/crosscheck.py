"""`testbed crosscheck`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli import shared
from testbed.errors import BadInput, nearest
from testbed.runs.overrides import from_user, overridden

if TYPE_CHECKING:
    from testbed.experiment.resolved import Resolved
    from testbed.results.record import EngineName
    from testbed.results.table import Cell, Table
    from testbed.runs.crosscheck import Crosscheck, Told


def crosscheck(  # noqa: PLR0917 - one parameter per option
    experiment: shared.ExperimentArgument,
    controller: shared.Controller = "",
    tuner: shared.Tuner = "",
    settings: shared.Settings = None,
    engines: Annotated[
        str,
        typer.Option(
            metavar="A,B,...", help="Of fluid, virtual, kernel, and live, which must decide as virtual to the byte."
        ),
    ] = "fluid,virtual,kernel",
    seeds: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="Seeds on the virtual engine; several tell chance apart.")
    ] = 1,
    duration: shared.Duration = "",
    dilation: Annotated[str, typer.Option(metavar="NUMBER", help="Of the kernel and the live engine.")] = "",
    seed: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=0, help="The first seed; by default the file's.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder for the results, one per engine in it.")
    ] = None,
    format: shared.Formatted = shared.Format.text,
) -> None:
    """Run an experiment on several engines and hold their figures against each other (with the kernel: as root).

        testbed crosscheck websearch --engines fluid,virtual --seeds 5

    The reference is the kernel's run if it is clean, else the virtual engine's. Bounds: docs/explanation/engines.md.
    Exit code 0: all runs are clean and all figures within bounds; 3: not so; 2: no engine can run it.
    """
    from testbed.experiment import meaningless
    from testbed.live.broadcast import observer
    from testbed.runs import crosscheck as run

    loaded = from_user(experiment)
    plugins = {"controller": controller, "tuner": tuner}
    options = shared.changes(None, duration, dilation, seed)
    given = ["record.report=false", *(settings or []), *(f"{key}={value}" for key, value in options.items())]

    def make(engine: EngineName, seed: int | None) -> Resolved:
        drawn = [] if seed is None else [f"seed={seed}"]
        return overridden(loaded, plugins, {}, [*meaningless.kept(given, engine), *drawn])

    chosen = _chosen(engines, list(run.ENGINES))
    with observer("none", ui=False) as terminal:
        found = run.crosscheck(make, chosen, out, terminal, seeds=seeds)
    if format is shared.Format.json:
        shared.print_json(found.as_dict())
    else:
        _print(found)
    print(f"results: {found.folder}", file=sys.stderr)
    raise typer.Exit(0 if found.agrees else 3)


def _chosen(engines: str, known: list[EngineName]) -> list[EngineName]:
    names = [name.strip() for name in engines.split(",")]
    for name in names:
        if name not in known:
            raise BadInput(f"--engines {name}: there is no such engine; {nearest(name, list(known))}")
    if len(set(names)) < 2:
        raise BadInput(f"--engines {engines}: name two or more, to hold them against each other: {', '.join(known)}")
    return [name for name in known if name in names]


def _print(found: Crosscheck) -> None:
    from rich.console import Console

    from testbed.results.fitted import Fitted, Prose

    console = Console(highlight=False)
    for engine, summary in found.ran.items():
        console.print(Prose(f"{engine}: {summary.verdict}"))
    for engine, why in found.cannot.items():
        console.print(Prose(f"{engine}: cannot run this: {why}"))
    if found.other:
        console.print(Prose(f"live and virtual time decided otherwise: {found.other}"))
    console.print()
    if found.reference is None:
        console.print(Prose("no reference: neither the kernel's nor the virtual engine's run is clean"))
        return
    console.print(Fitted(table(found)))
    for one in found.figures:
        for engine in one.outside:
            off = f"out of bounds: {one.label} on the {engine} engine: {_off(one, engine)}"
            console.print(Prose(off + (_shaped(one) if engine in one.shaped else "")))


def _shaped(one: Told) -> str:
    shift = one.figure.text(one.rack)
    return f"; the kernel's shapers and timers alone shift it by up to {shift} (docs/explanation/engines.md)"


def table(found: Crosscheck) -> Table:
    """A row per figure, a column per engine: its value, and below it the difference to the reference."""
    from testbed.results.table import Cell, Table

    engines = [Cell(engine, "reference" * (engine == found.reference)) for engine in found.ran]
    chance = Cell("chance", f"{len(found.seeds)} seeds" if len(found.seeds) > 1 else "")
    return Table([_row(one) for one in found.figures], [Cell(), *engines, Cell("bound"), chance], notes="below")


def _row(one: Told) -> list[Cell]:
    from testbed.results.table import Cell

    cells = [Cell(one.label)]
    for engine, value in one.values.items():
        note = "" if engine == one.reference else _off(one, engine)
        cells.append(Cell(one.figure.text(value), note, mark="worse" if engine in one.outside else ""))
    return [*cells, Cell(one.figure.text(one.bound)), Cell(one.figure.text(one.chance) if one.chance else "-")]


def _off(one: Told, engine: EngineName) -> str:
    """A difference in %, but points of what is in % itself."""
    difference, reference = one.difference(engine), one.values[one.reference]
    if one.figure.unit == "%":
        return f"{difference:+.2f} points"
    return f"{difference / reference:+.2%}" if reference else f"{difference:+,.4g}"
