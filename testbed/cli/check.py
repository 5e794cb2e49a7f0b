"""`testbed check`."""

from __future__ import annotations

from typing import Annotated

import typer

from testbed.cli import completion
from testbed.cli.shared import Format, Formatted, answer, options_of


def check(
    plugin: Annotated[
        str,
        typer.Argument(
            metavar="PLUGIN",
            help="Name or path of a plugin of any kind.",
            autocompletion=completion.plugins(*completion.KINDS, "path chooser", "credit controller"),
        ),
    ],
    preset: Annotated[
        str | None, typer.Option(metavar="NAME", help="Check this preset; by default the plugin's first.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An option of the plugin; may be repeated.")
    ] = None,
    integers: Annotated[
        bool, typer.Option("--integers", help="Refuse C that computes with fractions or divides.")
    ] = False,
    format: Formatted = Format.text,
) -> None:
    """Run the conformance suite on a plugin, without root and without a network.

        testbed check ./my_cc.py --set segment="16 kB"

    What is asked: docs/howto/controllers.md. Exit code 1: it failed.
    """
    import logging

    from testbed.registry import find_any
    from testbed.sdk.conformance import controllers

    logging.getLogger("testbed.experiment").setLevel(logging.ERROR)  # that a trial cuts its only link is the question
    results = controllers.check(find_any(plugin), preset, options_of(settings), whole=integers)
    told = [{"name": one.name, "outcome": one.outcome, "why": one.why} for one in results]
    answer(format, told, (f"{one.outcome}  {one.name}: {one.why}" for one in results))
    raise typer.Exit(int(not all(one.passed for one in results)))
