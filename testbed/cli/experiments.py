"""`testbed list`, `show` and `validate`: what could be run."""

from __future__ import annotations

from typing import Annotated

import typer

from testbed.cli.shared import ExperimentArgument, Format, Formatted, Settings, print_json, print_resolved, resolve
from testbed.errors import TestbedError


def list_(
    plugin: Annotated[str, typer.Argument(metavar="[PLUGIN]", help="Print this controller's or tuner's options.")] = "",
    format: Formatted = Format.text,
) -> None:
    """List experiments, controllers and tuners, or the options of one plugin."""
    if plugin:
        _list_options(plugin, format)
        return
    from testbed.experiment import catalogue

    found = catalogue.collect()
    if format is Format.json:
        print_json(found)
    else:
        for text in catalogue.as_lines(found):
            print(text)


def _list_options(plugin: str, format: Format) -> None:
    from testbed.experiment import options
    from testbed.registry import find_any

    described = options.describe(find_any(plugin))
    if format is Format.json:
        print_json(described)
    else:
        for text in options.as_lines(described):
            print(text)


def show(experiment: ExperimentArgument, settings: Settings = None, format: Formatted = Format.text) -> None:
    """Print an experiment with every default spelled out, and what its traffic amounts to."""
    from testbed.experiment.offered import Offered

    resolved = resolve(experiment, {}, {}, settings)
    if format is Format.text:  # a comment: what is printed can be run as it is
        print(f"# {resolved.experiment.hosts} hosts, {Offered.of(resolved.experiment)}")
    print_resolved(resolved, format)


def validate(
    file: Annotated[str, typer.Argument(metavar="FILE", help="An experiment file, or a name.")],
    settings: Settings = None,
    format: Formatted = Format.text,
) -> None:
    """Check an experiment file and the plugins it names."""
    try:
        resolved = resolve(file, {}, {}, settings)
    except TestbedError as error:
        if format is Format.text:
            raise
        print_json({"valid": False, "problems": str(error).splitlines()})
        raise typer.Exit(error.exit_code) from None
    if format is Format.json:
        print_json({"valid": True, "problems": []})
    else:
        from testbed.experiment.offered import Offered

        print(f"{file} is valid: {resolved.experiment.hosts} hosts, {Offered.of(resolved.experiment)}")
