"""`testbed run`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.base.extras import need
from testbed.cli.shared import ExperimentArgument, Format, Formatted, Settings, Verbose, log_if, print_resolved, resolve
from testbed.errors import BadInput, TestbedError

if TYPE_CHECKING:
    from testbed.engines.engine import Engine


class EngineChoice(StrEnum):
    """The engines that need no inventory."""

    kernel = "kernel"
    fluid = "fluid"


NO_PACKETS_TO_CAPTURE = {
    "lab": "in a lab the packets are on real wires; capture them there with tcpdump",
    "fluid": "the fluid model has no packets; leave it out, or use --engine kernel",
}


def run(  # noqa: PLR0917 - one parameter per option
    experiment: ExperimentArgument,
    controller: Annotated[str, typer.Option(help="Congestion control instead of the file's: a name or a path.")] = "",
    tuner: Annotated[str, typer.Option(help="ECN tuner instead of the file's: a name or a path.")] = "",
    engine: Annotated[
        EngineChoice,
        typer.Option(help="What carries the traffic: this kernel, with real packets; or a fluid model, without root."),
    ] = EngineChoice.kernel,
    settings: Settings = None,
    duration: Annotated[str, typer.Option(help="Nominal length, for example '10 ms'.")] = "",
    dilation: Annotated[str, typer.Option(help="Wall seconds per nominal second, or 'auto'.")] = "",
    seed: Annotated[str, typer.Option(help="Seed of everything random.")] = "",
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
    metrics_addr: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where Prometheus, 'testbed watch' and browsers find the run; 'none' for nowhere. "
            "By default 127.0.0.1:9464, or the next free port.",
        ),
    ] = None,
    ui: Annotated[bool, typer.Option("--ui", help="Serve a live page, and say where.")] = False,
    pcap: Annotated[
        list[str] | None,
        typer.Option(metavar="POINT", help="Capture packets at port:s1-eth65 or nic:h3; may be repeated."),
    ] = None,
    snap: Annotated[
        str, typer.Option(metavar="SIZE", help="Keep so much of captured packets: '256 B' are all headers.")
    ] = "",
    inventory: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Ansible inventory: run over the wires of its hosts, in real time."),
    ] = None,
    playbook: Annotated[
        bool, typer.Option(help="With --inventory: have Ansible check, or push, the testbed on the hosts first.")
    ] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and print the experiment; build nothing.")] = False,
    verbose: Verbose = False,
    format: Formatted = Format.text,
) -> None:
    """Run an experiment (needs root, but for --inventory and --engine fluid)."""
    log_if(verbose)
    options = {"time.duration": duration, "time.dilation": dilation, "seed": seed}
    carrier: Engine
    if inventory:
        if engine != EngineChoice.kernel:
            raise BadInput(f"--inventory runs over real hosts, --engine {engine} does not: leave one of them out")
        from testbed.engines.lab.engine import LabEngine
        from testbed.engines.lab.operator import restrictions
        from testbed.engines.lab.operator.inventory import read

        hosts = read(inventory)
        carrier = LabEngine(hosts, playbook)
        options = restrictions.settings(hosts) | {key: value for key, value in options.items() if value}
    elif engine == EngineChoice.fluid:
        from testbed.engines.fluid.engine import FluidEngine

        if dilation:
            raise BadInput(f"--dilation {dilation}: the fluid model does not run in wall time; leave it out")
        carrier = FluidEngine()
    else:
        from testbed.engines.kernel.engine import KernelEngine

        carrier = KernelEngine()
    resolved = resolve(experiment, {"controller": controller, "tuner": tuner}, options, settings)
    if carrier.name != "kernel":
        carrier.check(resolved)
    from testbed.capture.files import snap_of
    from testbed.capture.point import points

    captured, kept = points(pcap or [], resolved.layout.shape), snap_of(snap)
    if captured and carrier.name in NO_PACKETS_TO_CAPTURE:
        raise BadInput(f"--pcap: {NO_PACKETS_TO_CAPTURE[carrier.name]}")
    if dry_run:
        print_resolved(resolved, format)
        return
    from testbed.engines.kernel import doctor
    from testbed.results import folder

    if carrier.name == "kernel":
        doctor.require()
    need(*folder.PACKAGES)
    from testbed.live.broadcast import observer
    from testbed.run.run import execute

    with observer(metrics_addr, ui) as everyone:
        outcome = execute(carrier, resolved, out, everyone, points=captured, snap=kept)
    if format is Format.json:
        print(outcome.summary.to_json())
    else:
        from rich.console import Console

        from testbed.results.report.table import render

        Console().print(render(outcome.summary))
    print(f"results: {outcome.folder}", file=sys.stderr)
    if outcome.failure:
        raise TestbedError(f"{outcome.failure}; what was measured until then is kept")
    raise typer.Exit(int(outcome.summary.verdict.exit_code))
