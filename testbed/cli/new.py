"""`testbed new`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from testbed.cli.help import Command, Group
from testbed.cli.shared import choice

RUN = "testbed run incast-8 --engine virtual"
Repository = Annotated[
    bool, typer.Option("--repository", help="Also what makes this folder its repository: a package, with its CI.")
]
new = typer.Typer(cls=Group, help="Write a working plugin with its test.", no_args_is_help=True)


class Form(StrEnum):
    """How a controller is written."""

    COMPILED = "compiled"
    BATCH = "batch"
    OBJECT = "object"
    LEARNED = "learned"
    C = "c"
    RECEIVER = "receiver"


@new.command("controller", cls=Command)
def new_controller(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the plugin.")],
    form: Annotated[Form, choice(Form, "How it is written.")] = Form.COMPILED,
    repository: Repository = False,
) -> None:
    """Write a controller and its test into this folder.

        testbed new controller my_cc --form batch

    docs/howto/controllers.md says what each form is for.
    """
    _scaffold("controller", name, form.value, repository=repository)
    train = f"python train_{name}.py; " if form is Form.LEARNED else ""
    file = f"./{name}.c" if form is Form.C else f"./{name}.py"
    chosen = f"--controller fixed --set receiver={file}" if form is Form.RECEIVER else f"--controller {file}"
    print(f"next: {train}testbed check {file}; {RUN} {chosen}", file=sys.stderr)


@new.command("tuner", cls=Command)
def new_tuner(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the plugin.")], repository: Repository = False
) -> None:
    """Write a tuner and its test into this folder.

    testbed new tuner my_tuner
    """
    _scaffold("tuner", name, repository=repository)
    print(f"next: testbed check ./{name}.py; {RUN} --tuner ./{name}.py", file=sys.stderr)


@new.command("chooser", cls=Command)
def new_chooser(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the plugin.")], repository: Repository = False
) -> None:
    """Write a path chooser and its test into this folder.

    testbed new chooser my_chooser
    """
    _scaffold("chooser", name, repository=repository)
    run = "testbed run permutation-64 --engine virtual --duration '400 us'"
    print(f"next: testbed check ./{name}.py; {run} --set routing=./{name}.py", file=sys.stderr)


def _scaffold(kind: str, name: str, *form: str, repository: bool) -> None:
    from testbed.sdk import new

    for file in new.new(kind, name, Path(), *form, repository=repository):
        print(file)
