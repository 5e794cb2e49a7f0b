"""`testbed list`: what could be run."""

from __future__ import annotations

from typing import Annotated

import typer

from testbed.cli import completion
from testbed.cli.shared import Format, Formatted, answer


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
    from testbed.experiment import catalogue, options
    from testbed.registry import find_any

    if plugin:
        described = options.describe(find_any(plugin))
        answer(format, described, options.as_lines(described))
        return
    found = catalogue.collect()
    answer(format, found, catalogue.as_lines(found))
