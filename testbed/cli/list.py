"""`testbed list`: what could be run."""

from __future__ import annotations

from typing import Annotated

import typer

from testbed.cli import completion
from testbed.cli.shared import Format, Formatted, print_json


def list_(
    plugin: Annotated[
        str,
        typer.Argument(
            metavar="[PLUGIN]",
            help="Print this plugin's options.",
            autocompletion=completion.plugins(*completion.KINDS, "path chooser", "credit controller"),
        ),
    ] = "",
    format: Formatted = Format.text,
) -> None:
    """List experiments and plugins, or the options of one plugin.

    testbed list dcqcn
    """
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
