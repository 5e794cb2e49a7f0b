"""`testbed run`."""

from __future__ import annotations

from typing import Annotated

import typer

from testbed.cli import shared_run
from testbed.cli.shared import (
    Controller,
    Engine,
    ExperimentArgument,
    Format,
    Formatted,
    Settings,
    Tuner,
    Verbose,
    log_if,
    print_resolved,
)
from testbed.cli.shared_run import DryRun, Inventory, MetricsAddr, Out, Playbook, Ui
from testbed.runs.overrides import from_user, overridden


def run(  # noqa: PLR0917 - one parameter per option
    experiment: ExperimentArgument,
    controller: Controller = "",
    tuner: Tuner = "",
    engine: Engine = None,
    settings: Settings = None,
    duration: Annotated[str, typer.Option(help="Nominal length, for example '10 ms'.")] = "",
    dilation: Annotated[str, typer.Option(help="Wall seconds per nominal second, or 'auto'.")] = "",
    seed: Annotated[str, typer.Option(help="Seed of everything random.")] = "",
    out: Out = None,
    metrics_addr: MetricsAddr = None,
    ui: Ui = False,
    pcap: Annotated[
        list[str] | None,
        typer.Option(metavar="POINT", help="Capture packets at port:s1-eth65 or nic:h3; may be repeated."),
    ] = None,
    snap: Annotated[
        str, typer.Option(metavar="SIZE", help="Keep so much of captured packets: '256 B' are all headers.")
    ] = "",
    inventory: Inventory = None,
    playbook: Playbook = True,
    dry_run: DryRun = False,
    verbose: Verbose = False,
    format: Formatted = Format.text,
) -> None:
    """Run an experiment: real packets as root, or without it --engine virtual."""
    log_if(verbose)
    lab, options = shared_run.lab(inventory, engine, playbook)
    given = {"time.duration": duration, "time.dilation": dilation, "seed": seed}
    options |= {key: value for key, value in given.items() if value}
    settings = [*(settings or []), *([f"engine={engine}"] if engine else [])]
    resolved = overridden(from_user(experiment), {"controller": controller, "tuner": tuner}, options, settings)
    from testbed.runs.carrier import carrier
    from testbed.runs.plan import plan

    planned = plan(lab or carrier(resolved.experiment.engine), resolved, pcap or [], snap)
    if dry_run:
        print_resolved(resolved, format)
        return
    planned.require()
    shared_run.execute(planned, out, metrics_addr, ui, format)
