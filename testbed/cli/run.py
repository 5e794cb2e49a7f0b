"""`testbed run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli import shared, shared_run
from testbed.cli.shared_run import AllowEdits, DryRun, Inventory, MetricsAddr, Out, Playbook, Ui
from testbed.engines.virtual.limits import MOST_PARTS
from testbed.runs.overrides import from_user, overridden

if TYPE_CHECKING:
    from testbed.experiment.resolved import Resolved


def run(  # noqa: PLR0917 - one parameter per option
    experiment: shared.ExperimentArgument,
    controller: shared.Controller = "",
    tuner: shared.Tuner = "",
    engine: shared.Engine = None,
    settings: shared.Settings = None,
    duration: shared.Duration = "",
    until_rest: shared.UntilRest = "",
    dilation: shared.Dilation = "",
    seed: shared.Seed = None,
    out: Out = None,
    metrics_addr: MetricsAddr = None,
    ui: Ui = False,
    allow_edits: AllowEdits = False,
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POINT", help="Capture packets at a switch port, port:s1-eth65, or a host, nic:h3; may be repeated."
        ),
    ] = None,
    snap: Annotated[
        str,
        typer.Option(metavar="SIZE", help="How much of each packet is kept: '336 B' has all headers; by default all."),
    ] = "",
    inventory: Inventory = None,
    playbook: Playbook = True,
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            min=1,
            max=MOST_PARTS,
            help="Of the virtual engine; by default one below 512 hosts. Figures are the same.",
        ),
    ] = None,
    alone: Annotated[bool, typer.Option("--alone", help="First run each job alone, on the same hosts.")] = False,
    isolate: Annotated[
        bool, typer.Option("--isolate", help="A controller in C decides in a process of its own, which may crash.")
    ] = False,
    dry_run: DryRun = False,
    verbose: shared.Verbose = False,
    format: shared.Formatted = shared.Format.text,
) -> None:
    """Run an experiment: real packets as root, simulated ones with --engine virtual.

        sudo testbed run incast-64
        testbed run incast-64 --engine virtual --controller hpcc --set traffic.senders=8

    `kernel` has real packets, `virtual` simulates with the rack's own programs, `live` does so in wall time, `fluid`
    models rates (docs/explanation/engines.md). --inventory takes real hosts (docs/howto/agents.md).

    A controller that is not the file's brings its thresholds (`dctcp`, `nscc`), unless a tuner or a preset is named.
    """
    shared.log_if(verbose)
    lab, its = shared_run.lab(inventory, engine, playbook)
    apart = ["controller.isolate=true"] if isolate else []
    settings, options = [*its, *(settings or []), *apart], shared.changes(engine, duration, dilation, seed, until_rest)
    loaded, plugins = from_user(experiment), {"controller": controller, "tuner": tuner}
    from testbed.runs.carrier import begin, carrier

    resolved = overridden(loaded, plugins, options, settings, None if dry_run else begin)

    def without_others(job: str) -> Resolved:
        return overridden(loaded, plugins, options, [*settings, f"traffic.alone={job}"])

    from testbed.runs.plan import plan

    planned = plan(lab or carrier(resolved.experiment.engine, threads), resolved, pcap or [], snap)
    if dry_run:
        shared.print_resolved(resolved, format)
        return
    planned.require()
    shared_run.execute(planned, out, metrics_addr, ui, format, without_others if alone else None, allow_edits)
