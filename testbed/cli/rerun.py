"""`testbed rerun`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from testbed.cli import shared, shared_run
from testbed.cli.shared_run import DryRun, Inventory, MetricsAddr, Out, Playbook, Ui
from testbed.errors import BadInput


def rerun(  # noqa: PLR0917 - one parameter per option
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A results folder, or a report.html.")],
    controller: shared.Controller = "",
    tuner: shared.Tuner = "",
    engine: shared.Engine = None,
    settings: shared.Settings = None,
    duration: shared.Duration = "",
    dilation: shared.Dilation = "",
    seed: shared.Seed = None,
    out: Out = None,
    metrics_addr: MetricsAddr = None,
    ui: Ui = False,
    inventory: Inventory = None,
    playbook: Playbook = True,
    dry_run: DryRun = False,
    trust: shared.Trust = False,
    verbose: shared.Verbose = False,
    format: shared.Formatted = shared.Format.text,
) -> None:
    """Run again what a result holds: experiment, plugins, options, engine, seed, captures.

        testbed rerun report.html
        testbed rerun results/incast-8-hpcc-20261128-071200 --set traffic.senders=4 --out now

    stderr says what differs from then. The experiment's files are those of the result.

    On the virtual engine every file is compared with the result: `equal`, or the first difference and exit code 1; of a
    live run decisions and samples. Runs of other engines, with apps, ended early or changed by an option are not
    compared. What is compared is kept with --out alone.

    A plugin of the result runs only if it is installed, or your own file and unchanged. Else nothing is loaded (exit
    code 2); --trust runs it with your rights (SECURITY.md).
    """
    shared.log_if(verbose)
    from testbed.runs.rerun import Result

    before = Result.at(result, trusted=trust)
    lab, its = shared_run.lab(inventory, engine, playbook)
    plugins, options = {"controller": controller, "tuner": tuner}, shared.changes(engine, duration, dilation, seed)
    if before.manifest.engine == "lab" and not (
        lab or engine or any(one.startswith("engine=") for one in settings or [])
    ):
        raise BadInput(f"{before.name} ran over a lab's hosts: name them with --inventory, or say --engine virtual")
    planned = before.plan(lab, plugins, options, [*its, *(settings or [])])
    for line in before.differs(planned.resolved) or ["nothing: the same experiment, code, versions and machine"]:
        print(f"differs: {line}", file=sys.stderr)
    if dry_run:
        shared.print_resolved(planned.resolved, format)
        return
    planned.require()
    said = [kind for kind, one in plugins.items() if one] + [key.rpartition(".")[2] for key in options]
    changed = [f"--{one}" for one in said] + [f"--set {one}" for one in settings or []]
    why_not = before.not_comparable() or (changed and f"{changed[0]} makes it another experiment")
    if why_not:
        print(f"not compared: {why_not}", file=sys.stderr)
        shared_run.execute(planned, out, metrics_addr, ui, format)
    from testbed.live.broadcast import observer

    with observer(metrics_addr, ui) as everyone:
        found = before.repeat(planned, out, everyone)
    told = {"equal": found is None, "difference": found and found._asdict()}
    shared.answer(format, told, [f"differs: {found}" if found else f"equal: {before.same}"])
    raise typer.Exit(int(found is not None))
