"""`testbed advise`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from testbed.cli import completion, shared
from testbed.cli.shared import Format, Formatted, Settings


def advise(  # noqa: PLR0917 - one parameter per option
    traffic: Annotated[
        list[str],
        typer.Option(
            metavar="EXPERIMENT|FILE",
            help="An experiment, or a trace or job of another tool; may be repeated.",
            autocompletion=completion.experiments,
        ),
    ],
    switch: Annotated[
        str, typer.Option(metavar="FILE", help="The switch as it is: SONiC's config_db.json; else the experiments'.")
    ] = "",
    objective: Annotated[
        str,
        typer.Option(
            metavar="FIGURE,W*FIGURE", help="What is to get better; by default iteration_mean, slowdown_p99 or ql_p99."
        ),
    ] = "",
    constraint: Annotated[
        list[str] | None,
        typer.Option(metavar="[TRAFFIC:]CONDITION", help="What must hold; by default 'goodput >= 0.97*baseline'."),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=LOW..HIGH|KEY=A,B",
            help="What may be changed; by default Kmin, Kmax and Pmax of the traffic's queues.",
        ),
    ] = None,
    keep: Annotated[
        str, typer.Option(metavar="PLAN[:CASE,...]", help="Cases of a test plan that must stay passed: sonic-rocev2.")
    ] = "",
    settings: Settings = None,
    budget: Annotated[str, typer.Option(metavar="TIME", help="Wall time for all of it.")] = "10 min",
    runs: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=1, help="Instead of a time: the answer is then the same on any machine."),
    ] = None,
    draws: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="Draws to choose candidates by.")] = 3,
    checks: Annotated[int, typer.Option(metavar="NUMBER", min=6, help="Draws to measure the advised one on.")] = 9,
    worth: Annotated[
        float, typer.Option(metavar="NUMBER", min=0, max=99, help="Least gain for which to change anything, %.")
    ] = 2,
    seed: Annotated[int, typer.Option(metavar="NUMBER", min=0, help="Seed of the first draw and the search.")] = 1,
    jobs: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=1, help="Runs at the same time; by default one for each core.")
    ] = None,
    compared: Annotated[
        bool, typer.Option("--compare/--no-compare", help="Also measure vendors' defaults, rules, PET and ACC.")
    ] = True,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of the answer; by default a new one in results.")
    ] = None,
    format: Formatted = Format.text,
) -> None:
    """Say which thresholds and parameters to set for your traffic, and whether that is worth it.

        testbed advise --switch config_db.json --traffic websearch --objective slowdown_short_p99 --budget '10 min'

    It searches on the virtual engine, without root (docs/howto/advise.md). Exit code 0: there is an answer, also
    "change nothing"; 2: also traffic that the present configuration cannot carry.
    """
    from testbed.advise import answer, written
    from testbed.advise.advice import advise as advised
    from testbed.advise.budget import Budget
    from testbed.advise.evidence import virtual
    from testbed.advise.question import Question, Task
    from testbed.results import folder

    allowed = Budget.read(budget, runs)
    question = Question(
        traffic=tuple(traffic), switch=switch, settings=tuple(settings or ()), objective=objective,
        constraints=tuple(constraint or ()), change=tuple(change or ()), keep=keep, draws=draws, checks=checks,
        worth=worth / 100, seed=seed,
    )  # fmt: skip
    cores = jobs or len(os.sched_getaffinity(0))
    with folder.new_folder(folder.prepare(out, "advice")) as target:
        task = Task.of(question, target)
        carry = virtual(task.workloads, cores)
        found = advised(task, carry, allowed, lambda line: print(line, file=sys.stderr), compared=compared, jobs=cores)
        shown = written.write(target, found)
    shared.answer(format, answer.as_dict(found), answer.lines(found))
    print(f"page: {shown}", file=sys.stderr)
