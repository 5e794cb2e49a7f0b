"""`testbed run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from testbed.base.extras import need
from testbed.cli.shared import (
    Controller,
    Engine,
    Format,
    Formatted,
    OptionalExperiment,
    Settings,
    Tuner,
    Verbose,
    log_if,
    print_json,
    print_resolved,
)
from testbed.errors import BadInput, TestbedError
from testbed.runs.overrides import from_user, overridden

if TYPE_CHECKING:
    from testbed.engines.engine import Engine as Carrier
    from testbed.experiment.resolved import Resolved
    from testbed.results.manifest import Manifest


def run(  # noqa: PLR0917 - one parameter per option
    experiment: OptionalExperiment = "",
    again: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FOLDER", help="Run a result's experiment again, with its seed; says what differs."
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="With --from, of a run of the virtual engine: does it leave the same bits again?"
        ),
    ] = False,
    controller: Controller = "",
    tuner: Tuner = "",
    engine: Engine = None,
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
    alone: Annotated[
        bool,
        typer.Option("--alone", help="Run each job alone before, on the same hosts: how much do the others cost it?"),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and print the experiment; build nothing.")] = False,
    verbose: Verbose = False,
    format: Formatted = Format.text,
) -> None:
    """Run an experiment: real packets as root, or without it --engine virtual."""
    log_if(verbose)
    from testbed.experiment.load import recorded

    before = _result(again, experiment)
    if verify:
        from testbed.runs.verify import require

        against = {
            "--controller": controller, "--tuner": tuner, "--engine": engine, "--set": settings, "--duration": duration,
            "--dilation": dilation, "--seed": seed, "--out": out, "--pcap": pcap, "--snap": snap,
            "--inventory": inventory, "--alone": alone, "--dry-run": dry_run,
        }  # fmt: skip
        if not (again and before):
            raise BadInput("--verify: which run? name its folder with --from")
        require(again, before, [name for name, value in against.items() if value])
        _verify(again, before, metrics_addr, ui, format)
    if before and before.engine == "lab" and not (engine or inventory):
        raise BadInput("--from: it ran over the hosts of a lab: name them with --inventory, or choose an --engine")
    lab, options = _lab(inventory, engine, playbook)
    given = {"time.duration": duration, "time.dilation": dilation, "seed": seed}
    options |= {key: value for key, value in given.items() if value}
    loaded = recorded(before.experiment, str(again)) if before else from_user(experiment)
    settings = [*(settings or []), *([f"engine={engine}"] if engine else [])]
    plugins = {"controller": controller, "tuner": tuner}
    resolved = overridden(loaded, plugins, options, settings)
    carrier = lab or _carrier(resolved)
    if before:
        _say_what_differs(before, resolved)

    def without_others(job: str) -> Resolved:
        return overridden(loaded, plugins, options, [*settings, f"traffic.alone={job}"])

    from testbed.runs.plan import plan

    planned = plan(carrier, resolved, pcap or [], snap)
    if dry_run:
        print_resolved(resolved, format)
        return
    planned.require()
    from testbed.live.broadcast import observer

    with observer(metrics_addr, ui) as everyone:
        outcome = planned.execute(out, everyone, without_others if alone else None)
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


def _lab(inventory: Path | None, engine: str | None, playbook: bool) -> tuple[Carrier | None, dict[str, str]]:
    """The lab, if there is to be one, and the settings that it brings."""
    if inventory is None:
        return None, {}
    if engine:
        raise BadInput(f"--inventory runs over real hosts, --engine {engine} does not: leave one of them out")
    from testbed.engines.lab.engine import LabEngine
    from testbed.engines.lab.operator import restrictions
    from testbed.engines.lab.operator.inventory import read

    hosts = read(inventory)
    return LabEngine(hosts, playbook), dict(restrictions.settings(hosts))


def _carrier(resolved: Resolved) -> Carrier:
    """The one that the experiment names."""
    from testbed.runs.carrier import carrier

    return carrier(resolved.experiment.engine)


def _result(again: Path | None, experiment: str) -> Manifest | None:
    """Of the result that is to be run again."""
    if again is None and not experiment:
        raise BadInput("which experiment? 'testbed run EXPERIMENT', or 'testbed run --from FOLDER' for a result's")
    if again is None:
        return None
    if experiment:
        raise BadInput(f"--from {again} says what is run: leave {experiment} out")
    from testbed.results import folder

    return folder.load_manifest(again.expanduser())


def _verify(again: Path, before: Manifest, metrics_addr: str | None, ui: bool, format: Format) -> NoReturn:
    from testbed.engines.virtual.engine import VirtualEngine
    from testbed.experiment.load import recorded
    from testbed.live.broadcast import observer
    from testbed.results import folder
    from testbed.runs.verify import verify

    need(*folder.PACKAGES)
    resolved = overridden(recorded(before.experiment, str(again)), {}, {}, None)
    _say_what_differs(before, resolved)
    with observer(metrics_addr, ui) as everyone:
        found = verify(VirtualEngine(), again.expanduser(), before, resolved, everyone)
    if format is Format.json:
        print_json({"equal": found is None, "difference": found and found._asdict()})
    else:
        print(f"differs: {found}" if found else "equal: every table, every capture, and the summary but for wall time")
    raise typer.Exit(int(found is not None))


def _say_what_differs(before: Manifest, now: Resolved) -> None:
    from testbed.results.again import differences

    found = differences(before, now)
    for line in found or ["nothing: the same experiment, code, versions and machine"]:
        print(f"differs: {line}", file=sys.stderr)
