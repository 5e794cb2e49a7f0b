"""`testbed lab`: an experiment on real hosts."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from testbed.cli.shared import Controller, ExperimentArgument, Format, Settings, Tuner, print_json
from testbed.cli.shared_experiment import resolve

lab = typer.Typer(help="Real hosts: what their playbooks need.", no_args_is_help=True)


@lab.callback()
def group() -> None:
    """Real hosts: what their playbooks need."""


@lab.command("vars")
def vars_(  # noqa: PLR0917 - one parameter per option
    experiment: ExperimentArgument,
    controller: Controller = "",
    tuner: Tuner = "",
    settings: Settings = None,
    line_rate: Annotated[str, typer.Option(help="Of the lab's NICs; by default the experiment's link.")] = "",
    format: Annotated[Format, typer.Option(help="json can be given to ansible-playbook: -e @FILE.")] = Format.json,
) -> None:
    """Print an experiment's controller and ECN thresholds as variables for ansible/site.yml, in the tools' units."""
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
