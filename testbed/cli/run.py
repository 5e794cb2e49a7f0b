"""`testbed run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli import shared_run
from testbed.cli.shared import (
    Controller,
    Dilation,
    Duration,
    Engine,
    ExperimentArgument,
    Format,
    Formatted,
    Seed,
    Settings,
    Tuner,
    UntilRest,
    Verbose,
    changes,
    log_if,
    print_resolved,
)
from testbed.cli.shared_run import AllowEdits, DryRun, Inventory, MetricsAddr, Out, Playbook, Ui
from testbed.runs.overrides import from_user, overridden

MOST_PARTS = 64  # as in testbed/engines/virtual/parts.h

if TYPE_CHECKING:
    from testbed.experiment.resolved import Resolved


def run(  # noqa: PLR0917 - one parameter per option
    experiment: ExperimentArgument,
    controller: Controller = "",
    tuner: Tuner = "",
    engine: Engine = None,
    settings: Settings = None,
    duration: Duration = "",
    until_rest: UntilRest = "",
    dilation: Dilation = "",
    seed: Seed = None,
    out: Out = None,
    metrics_addr: MetricsAddr = None,
    ui: Ui = False,
    allow_edits: AllowEdits = False,
    pcap: Annotated[
        list[str] | None,
        typer.Option(metavar="POINT", help="Capture packets at port:s1-eth65 or nic:h3; may be repeated."),
    ] = None,
    snap: Annotated[
        str, typer.Option(metavar="SIZE", help="Keep so much of captured packets: '336 B' are all headers.")
    ] = "",
    inventory: Inventory = None,
    playbook: Playbook = True,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_PARTS,
            help="Of the virtual engine; by default one for small racks. Figures are the same for any number.",
        ),
    ] = None,
    alone: Annotated[
        bool,
        typer.Option("--alone", help="Run each job alone before, on the same hosts: how much do the others cost it?"),
    ] = False,
    isolate: Annotated[
        bool,
        typer.Option("--isolate", help="A controller in C decides in a process of its own, which may crash."),
    ] = False,
    dry_run: DryRun = False,
    verbose: Verbose = False,
    format: Formatted = Format.text,
) -> None:
    """Run an experiment: real packets as root, or without it --engine virtual."""
    log_if(verbose)
    lab, its = shared_run.lab(inventory, engine, playbook)
    apart = ["controller.isolate=true"] if isolate else []
    settings, options = [*its, *(settings or []), *apart], changes(engine, duration, dilation, seed, until_rest)
    loaded, plugins = from_user(experiment), {"controller": controller, "tuner": tuner}
    from testbed.runs.carrier import begin, carrier

    resolved = overridden(loaded, plugins, options, settings, None if dry_run else begin)

    def without_others(job: str) -> Resolved:
        return overridden(loaded, plugins, options, [*settings, f"traffic.alone={job}"])

    from testbed.runs.plan import plan

    planned = plan(lab or carrier(resolved.experiment.engine, threads), resolved, pcap or [], snap)
    if dry_run:
        print_resolved(resolved, format)
        return
    planned.require()
    shared_run.execute(planned, out, metrics_addr, ui, format, without_others if alone else None, allow_edits)
