"""`testbed lab`: an experiment on real hosts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from testbed.cli.help import Command, Group
from testbed.cli.shared import Controller, ExperimentArgument, Format, Formatted, Settings, Tuner, print_json
from testbed.runs.overrides import resolve

lab = typer.Typer(cls=Group, help="Real hosts: what their playbooks need.", no_args_is_help=True)


@lab.callback()
def group() -> None:
    """Real hosts: what their playbooks need."""


@lab.command("vars", cls=Command)
def vars_(  # noqa: PLR0917 - one parameter per option
    experiment: ExperimentArgument,
    controller: Controller = "",
    tuner: Tuner = "",
    settings: Settings = None,
    line_rate: Annotated[
        str, typer.Option(metavar="RATE", help="Of the lab's NICs; by default as the experiment's links.")
    ] = "",
    format: Annotated[
        Format, typer.Option(metavar="|".join(Format), help="json can be given to ansible-playbook: -e @FILE.")
    ] = Format.json,
) -> None:
    """Print an experiment's controller and thresholds as variables for ansible/site.yml, in the tools' units.

        testbed lab vars incast-8 --line-rate "200 Gbit/s" > experiment.json

    stderr says where the hardware differs (docs/howto/lab.md).
    """
    from testbed.engines.lab import ansible_vars

    resolved = resolve(experiment, {"controller": controller, "tuner": tuner}, {}, settings)
    found = ansible_vars.variables(resolved, ansible_vars.rate(line_rate))
    for difference in found["experiment_differences"]:
        print(f"differs on the lab's hardware: {difference}", file=sys.stderr)
    if format is Format.json:
        print_json(found)
    else:
        import yaml

        print(yaml.safe_dump(found, sort_keys=False, allow_unicode=True), end="")


@lab.command("rollouts", cls=Command)
def rollouts_(
    records: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of records, as rollout_records gives it.")
    ] = None,
    format: Formatted = Format.text,
) -> None:
    """List the rollouts made from here, the last one first.

    testbed lab rollouts
    """
    from testbed.engines.lab import rollouts

    where = records or rollouts.folder()
    found = rollouts.read(where)
    if format is Format.json:
        print_json([one.model_dump() for one in found])
    elif found:
        print("\n".join(rollouts.as_lines(found)))
    else:
        print(
            f"no rollout was made from here: {where} has none; a host's own are named by rollback.yml", file=sys.stderr
        )
