"""`testbed validate`."""

from __future__ import annotations

from typing import Annotated

import typer

from testbed.cli import completion
from testbed.cli.shared import Format, Formatted, Settings, print_json
from testbed.errors import TestbedError
from testbed.runs.overrides import resolve


def validate(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="An experiment file, or a name.", autocompletion=completion.experiments),
    ],
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
