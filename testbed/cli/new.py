"""`testbed new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

new = typer.Typer(help="Write a working plugin with its test.", no_args_is_help=True)


@new.command("controller")
def new_controller(name: Annotated[str, typer.Argument(help="Name of the plugin, for example my_cc.")]) -> None:
    """Write a controller and its test into this folder."""
    _scaffold("controller", name)


@new.command("tuner")
def new_tuner(name: Annotated[str, typer.Argument(help="Name of the plugin, for example my_tuner.")]) -> None:
    """Write a tuner and its test into this folder."""
    _scaffold("tuner", name)


def _scaffold(kind: str, name: str) -> None:
    from testbed.sdk import new

    for file in new.new(kind, name, Path()):
        print(file)
