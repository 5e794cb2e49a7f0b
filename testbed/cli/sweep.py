"""`testbed sweep`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli import completion, shared
from testbed.errors import BadInput

if TYPE_CHECKING:
    from testbed.results.sweep_plan import Plan
    from testbed.runs.sweep.runner import CellOutcome

ORDER_SEED = 1


def sweep(  # noqa: PLR0917 - one parameter per option
    experiment: shared.OptionalExperiment = "",
    controller: Annotated[str, shared.plugin("controller", "Controllers: names or paths.", "A,B,...")] = "",
    tuner: Annotated[str, shared.plugin("tuner", "ECN tuners: names or paths.", "A,B,...")] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=V1,V2,...",
            help="Values for any key; may be repeated. Of one of several plugins: controller[dcqcn].window=bdp,none. "
            "Commas in brackets, braces or quotes do not separate.",
            autocompletion=completion.settings,
        ),
    ] = None,
    engine: shared.Engine = None,
    repeat: shared.Repeat = 1,
    duration: shared.Duration = "",
    dilation: shared.Dilation = "",
    confidence: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            help="Add repeats until medians' intervals hold with this probability: 95 are six runs each, 99 eight.",
        ),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            help="And until those of SU, FR, mean QL and slowdown p99 reach at most so far from their middle, in % of "
            "the median; at most 30 runs.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=0, help="Seed of the first repeat; by default the file's.")
    ] = None,
    order_seed: Annotated[int, typer.Option(metavar="NUMBER", help="Seed of the order of the runs.")] = ORDER_SEED,
    jobs: shared.Jobs = None,
    on: shared.On = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder for the cells; a sweep begun there goes on.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Go on with the sweep in FOLDER, which says the rest.")
    ] = None,
    trust: shared.Trust = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check all cells and list them; run nothing.")] = False,
    format: shared.Formatted = shared.Format.text,
) -> None:
    """Run every combination of controllers, tuners and settings, several times, in random order.

        testbed sweep incast-64 --engine virtual --controller dcqcn,hpcc --set traffic.senders=2,8 --jobs 4 --out sweep1
        testbed compare sweep1

    Each cell is a results folder below --out. The same command again goes on with what was ended
    (docs/howto/compare.md). Exit code 1: a cell failed, or the sweep was ended early; 3: a cell is degraded.
    """
    from testbed.runs.sweep import prepare
    from testbed.runs.sweep.grid import Request
    from testbed.runs.sweep.hire import Wanted

    wanted = Wanted(jobs, on)
    if resume is not None:
        plugins, times = (controller, tuner, engine), (duration, dilation, seed is not None)
        repeats = (repeat != 1, confidence is not None, within is not None)
        if any((experiment, settings, out, *plugins, *times, *repeats)) or order_seed != ORDER_SEED:
            raise BadInput(
                "--resume: the folder's sweep.json says what is run; only --jobs, --on or --trust goes with it"
            )
        folder, plan = prepare.begun(resume, trusted=trust)
    elif not experiment:
        raise BadInput("which experiment? 'testbed sweep EXPERIMENT ...', or 'testbed sweep --resume FOLDER'")
    else:
        options = {"time.duration": duration, "time.dilation": dilation, "engine": engine}
        given = [f"{key}={value}" for key, value in options.items() if value]
        request = Request.parse(experiment, controller, tuner, [*given, *(settings or [])], repeat=repeat, seed=seed)
        plan = prepare.planned(request, order_seed, sys.argv, prepare.until(confidence, within))
    if dry_run:
        _list(plan, jobs or 1, format)
        return
    workers = wanted.hire(plan)
    if resume is None:
        folder, plan = prepare.place(out, plan)
    from testbed.results.sweep_plan import Plan
    from testbed.runs.sweep.repeats import unheld
    from testbed.runs.sweep.runner import finish

    outcomes = finish(folder, plan, workers)
    for wide in unheld(folder, Plan.load(folder)):
        print(f"testbed: --confidence: {wide}", file=sys.stderr)
    _report(folder, outcomes, format)


def _report(folder: Path, outcomes: list[CellOutcome], format: shared.Format) -> None:
    """What became of the cells; 1 if one failed, 3 if one is degraded."""
    from testbed.units import counted

    words = [one.word for one in outcomes]
    if format is shared.Format.json:
        shared.print_json({"folder": str(folder), "cells": [vars(one) for one in outcomes]})
    else:
        counts = [f"{words.count(word)} {word}" for word in ("clean", "degraded", "failed") if word in words]
        print(f"{counted(len(outcomes), 'cell')}: {', '.join(counts)}")
        for one in outcomes:
            if one.why:
                print(f"  {one.cell}: {one.word}: {one.why}")
    print(f"results: {folder}\ncompare them: testbed compare {folder}", file=sys.stderr)
    raise typer.Exit(1 if "failed" in words else 3 if "degraded" in words else 0)


def _list(plan: Plan, jobs: int, format: shared.Format) -> None:
    from testbed.base.progress import clock
    from testbed.units import counted

    if format is shared.Format.json:
        shared.print_json(
            [{"name": cell.name, "seconds": cell.seconds, "arguments": cell.arguments} for cell in plan.in_order]
        )
        return
    for cell in plan.in_order:
        print(f"{cell.name}  {'unknown' if cell.seconds is None else clock(cell.seconds)}")
    known = [cell.seconds for cell in plan.cells if cell.seconds is not None]
    unknown = len(plan.cells) - len(known)
    rest = f", and {unknown} whose dilation is measured first" if unknown else ""
    print(f"{counted(len(plan.cells), 'cell')}, about {clock(sum(known) / jobs)}{rest}")
