"""`testbed export`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli import completion
from testbed.cli.shared import Format, Formatted
from testbed.cli.shared_job import DryRun, Name, Options, Out, Preset, run_job
from testbed.errors import BadInput, nearest

if TYPE_CHECKING:
    from testbed.experiment.resolved import Resolved

SWITCH = "switch"
FORMATS = ["sonic"]
C = "c"  # any controller that is compiled


def export(  # noqa: PLR0917 - one parameter per option
    name: Name,
    to: Annotated[
        str,
        typer.Option(metavar="TARGET", help="What for: c, any compiled controller; doca-pcc, some; of a switch sonic."),
    ],
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="[EXPERIMENT]",
            help="Of 'switch': the experiment whose switch is printed.",
            autocompletion=completion.experiments,
        ),
    ] = "",
    settings: Options = None,
    preset: Preset = None,
    out: Out = None,
    dry_run: DryRun = False,
    format: Formatted = Format.text,
) -> None:
    """Write a controller as source code for another target, checked against the original.

    'testbed export switch EXPERIMENT --to sonic' prints the experiment's switch as SONiC's config_db.json.
    """
    if name == SWITCH:
        if preset or out or dry_run:
            raise BadInput("export switch: takes --to and --set alone, and prints; redirect it: > config_db.json")
        _switch(experiment, to, settings)
        return
    if experiment:
        raise BadInput(f"export {name} {experiment}: one name is expected; 'switch' takes an experiment")
    if to == C:
        from testbed.sdk.export.c import job

        run_job("export", name, settings, {}, preset, out, dry_run, format, job.of(name))
        return
    run_job("export", name, settings, {"to": to}, preset, out, dry_run, format)


def _switch(experiment: str, to: str, settings: list[str] | None) -> None:
    from testbed.cli.shared import print_json
    from testbed.experiment.preflight import first_red
    from testbed.experiment.topology.sonic.written import written
    from testbed.runs.overrides import resolve, tell

    if not experiment:
        raise BadInput("export switch: which experiment? testbed export switch EXPERIMENT --to sonic")
    if to not in FORMATS:
        raise BadInput(f"--to {to}: not known; {nearest(to, FORMATS)}")
    resolved = resolve(experiment, {}, {"engine": "virtual"}, settings)
    tell(resolved, set())
    rack = resolved.experiment.rack
    print_json(written(rack.switch, rack.link, _ports(resolved), first_red(resolved)))


def _ports(resolved: Resolved) -> int:
    """Of the switch that has most."""
    shape = resolved.experiment.shape
    return max(sum(port.switch == switch for port in shape.ports) for switch in shape.switches)
