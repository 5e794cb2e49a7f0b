"""`testbed export`."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli import completion
from testbed.cli.shared import Format, Formatted
from testbed.cli.shared_job import DryRun, Name, Options, Out, Preset, run_job
from testbed.errors import BadInput, nearest

if TYPE_CHECKING:
    from testbed.experiment.resolved import Resolved

SWITCH, RESULTS = "switch", "results"
FORMATS = ["sonic"]
RUN_FORMATS = ["fct", "htsim", "astra-sim", "openmetrics", "csv"]


def export(  # noqa: PLR0917 - one parameter per option
    name: Name,
    to: Annotated[
        str,
        typer.Option(
            metavar="TARGET",
            help="c, htsim, ns3 or doca-pcc for a controller, sonic for a switch, a format of results.",
        ),
    ],
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="[EXPERIMENT]",
            help="Of 'switch': the experiment whose switch is printed; of 'results': the results folder.",
            autocompletion=completion.experiments,
        ),
    ] = "",
    settings: Options = None,
    ports: Annotated[str, typer.Option(metavar="NAME,NAME", help="Of 'switch': its ports, as it names them.")] = "",
    preset: Preset = None,
    out: Out = None,
    dry_run: DryRun = False,
    format: Formatted = Format.text,
) -> None:
    """Write a controller as source code for another target, checked against the original.

        testbed export swift --to c --preset htsim --out swift-c
        testbed export adpg --to doca-pcc --set base_rtt='3.2 us' --set start_rate=0.01
        testbed export switch my-switch.yaml --to sonic > config_db.json
        testbed export results results/incast-8-hpcc-20261128-071200 --to fct

    A controller becomes `c` (C99 against `testbed_cc.h`), `htsim` or `ns3` (with a class for the simulator), or
    `doca-pcc` (for NVIDIA's NICs, not tried on a card): docs/howto/export.md. `switch` prints SONiC's tables
    (docs/howto/switch.md), `results` a run as `fct`, `htsim`, `astra-sim`, `openmetrics` or `csv`
    (docs/howto/files.md).
    """
    if name == SWITCH:
        if preset or out or dry_run:
            raise BadInput("export switch: takes --to, --set and --ports, and prints; redirect it: > config_db.json")
        _switch(experiment, to, settings, ports)
        return
    if ports:
        raise BadInput(f"--ports {ports}: is for 'export switch'")
    if name == RESULTS:
        if preset or settings or dry_run:
            raise BadInput("export results: takes --to and --out alone")
        _results(experiment, to, out)
        return
    if experiment:
        raise BadInput(f"export {name} {experiment}: expected one name; 'switch' takes an experiment, 'results' a run")
    from testbed.sdk import jobs
    from testbed.sdk.export.job import DOCA_PCC, SIMULATORS, C

    if to == C:
        from testbed.sdk.export.c import job

        run_job("export", name, settings, {}, preset, out, dry_run, format, job.of(name))
        return
    if to in SIMULATORS:
        from testbed.sdk.export.simulators import job as simulators

        run_job("export", name, settings, {}, preset, out, dry_run, format, simulators.of(name, to))
        return
    if to == DOCA_PCC and not jobs.has(name, "export"):
        from testbed.sdk.export.card import job as card

        run_job("export", name, settings, {"to": to}, preset, out, dry_run, format, card.of(name))
        return
    run_job("export", name, settings, {"to": to}, preset, out, dry_run, format)


def _switch(experiment: str, to: str, settings: list[str] | None, ports: str) -> None:
    from testbed.cli.shared import print_json
    from testbed.experiment.preflight import first_red
    from testbed.experiment.topology.sonic.written import numbered_ports, written
    from testbed.runs.overrides import resolve, tell

    if not experiment:
        raise BadInput("export switch: which experiment? testbed export switch EXPERIMENT --to sonic")
    if to not in FORMATS:
        raise BadInput(f"--to {to}: not known; {nearest(to, FORMATS)}")
    resolved = resolve(experiment, {}, {"engine": "virtual"}, settings)
    tell(resolved, set())
    rack = resolved.experiment.rack
    names = [one.strip() for one in ports.split(",") if one.strip()] or numbered_ports(_ports(resolved))
    print_json(written(rack.switch, rack.link, names, first_red(resolved)))


def _results(run: str, to: str, out: Path | None) -> None:
    from testbed.results import folder
    from testbed.results.exported.astra import astra
    from testbed.results.exported.csv_files import csv_files
    from testbed.results.exported.flows import fct, htsim

    if not run:
        raise BadInput("export results: which run? testbed export results RUN --to fct")
    if to not in RUN_FORMATS:
        raise BadInput(f"--to {to}: not known; {nearest(to, RUN_FORMATS)}")
    path = Path(run)
    if to == "csv" and out is None:
        raise BadInput("export results --to csv: expected --out, a new folder for the tables")
    if to in ("csv", "astra-sim"):
        folder.load_manifest(path)  # says what is no results folder
    if to == "csv" and out:
        print(*csv_files(path, out), sep="\n")
        return
    if to == "astra-sim":
        lines = astra(path)
    elif to == "openmetrics":
        from testbed.live.finished import open_metrics

        lines = open_metrics(folder.load(path), path.resolve().name)
    else:
        lines = (fct if to == "fct" else htsim)(folder.load(path))
    if out and out.exists():
        raise BadInput(f"--out {out}: is there already; expected a new file")
    first = next(lines, None)
    if first is None:
        raise BadInput(f"{path}: no flow has completed, and --to {to} is of those that have")
    lines = chain([first], lines)
    if out is None:
        for line in lines:
            print(line)
        return
    with out.open("w") as file:
        file.writelines(f"{line}\n" for line in lines)


def _ports(resolved: Resolved) -> int:
    """Of the switch that has most."""
    shape = resolved.experiment.shape
    return max(sum(port.switch == switch for port in shape.ports) for switch in shape.switches)
