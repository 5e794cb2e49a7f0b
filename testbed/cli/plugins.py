"""`testbed new`, `check` and `replay`: for authors of plugins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testbed.cli.shared import Format, Formatted, print_json

new = typer.Typer(help="Write a working plugin with its test.", no_args_is_help=True)


@new.command("controller")
def new_controller(name: Annotated[str, typer.Argument(help="Name of the plugin, for example my_cc.")]) -> None:
    """Write a controller and its test into this folder."""
    _scaffold("controller", name)


@new.command("tuner")
def new_tuner(name: Annotated[str, typer.Argument(help="Name of the plugin, for example my_tuner.")]) -> None:
    """Write a tuner and its test into this folder."""
    _scaffold("tuner", name)


def check(
    plugin: Annotated[str, typer.Argument(metavar="PLUGIN", help="A controller's or tuner's name or path.")],
    preset: Annotated[str | None, typer.Option(help="Check this preset; by default the plugin's first.")] = None,
    format: Formatted = Format.text,
) -> None:
    """Run the conformance suite on a plugin, without root and without a network."""
    from testbed.registry import find_any
    from testbed.sdk.conformance import controllers

    results = controllers.check(find_any(plugin), preset)
    if format is Format.json:
        print_json([{"name": one.name, "outcome": one.outcome, "why": one.why} for one in results])
    else:
        for one in results:
            print(f"{one.outcome}  {one.name}: {one.why}")
    raise typer.Exit(int(not all(one.passed for one in results)))


def replay(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A results folder.")],
    controller: Annotated[str, typer.Option(help="Another controller on the same feedback: a name or a path.")] = "",
    format: Formatted = Format.text,
) -> None:
    """Feed a run's recorded feedback to its controller again: same decisions, or where is the first difference?"""
    from testbed.sdk import replay as recorded

    done = recorded.replay(run, controller)
    if format is Format.json:
        print_json(done.as_dict())
    else:
        for line in done.as_lines():
            print(line)
    raise typer.Exit(int(not done.identical))


def _scaffold(kind: str, name: str) -> None:
    from testbed.sdk import new

    for file in new.new(kind, name, Path()):
        print(file)
