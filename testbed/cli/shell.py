"""`testbed shell`: a host or a switch of a run that goes on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli.help import Command
from testbed.cli.shared import Format, Formatted, answer, chosen
from testbed.errors import BadInput, TestbedError

if TYPE_CHECKING:
    from testbed.engines.nodes import RunningRack

COMMAND = "testbed.cli.shell"  # key of what stands behind --
WITHOUT_PROMPT = {"bash": ["--norc"], "zsh": ["-f"]}  # their start-up files set another one


class ShellCommand(Command):
    """What stands behind ``--`` is the command's, options included."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if "--" in args:
            at = args.index("--")
            args, ctx.meta[COMMAND] = args[:at], args[at + 1 :]
        return super().parse_args(ctx, args)


def shell(
    context: typer.Context,
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="Its results folder, or its name; not needed if it is the only one.")
    ] = "",
    host: Annotated[str, typer.Argument(metavar="HOST", help="A host (h3) or a switch (s1).")] = "",
    format: Formatted = Format.text,
) -> None:
    """Enter a host or a switch of a run that goes on, or list them (needs root).

        sudo testbed shell
        sudo testbed shell h1 -- tcpdump -ni e0 -c 10

    What stands behind -- is run there, else $SHELL; its exit code is given. Network, processes and names are the
    rack's, files the machine's. What is started inside ends with the run.
    """
    if os.geteuid() != 0:
        raise TestbedError("the namespaces of a rack are root's; run it with sudo: sudo testbed shell ...")
    from testbed.engines.nodes import RunningRack

    racks = RunningRack.all()
    if run and not host and Path(run).name not in [rack.name for rack in racks]:
        run, host = "", run
    rack, command = _choose(racks, run), context.meta.get(COMMAND)
    if not host:
        if command is not None:
            raise BadInput("run a command where? testbed shell [RUN] HOST -- COMMAND")
        nodes = [{"name": one.name, "address": one.address} for one in rack.nodes]
        lines = (f"{one.name}  {one.address or 'switch'}" for one in rack.nodes)
        answer(format, {"run": rack.name, "nodes": nodes}, lines)
        return
    from testbed.engines.kernel.enter import enter

    node = rack.node(host)
    environment = {**os.environ, "PS1": f"{node.name}# "}
    raise typer.Exit(enter(rack, node, command or _own_shell(), environment))


def _choose(racks: list[RunningRack], run: str) -> RunningRack:
    none = "no run goes on here; start one with: sudo testbed run EXPERIMENT"
    return chosen(racks, Path(run).name, none, "testbed shell RUN HOST")


def _own_shell() -> list[str]:
    shell = os.environ.get("SHELL") or "/bin/sh"
    return [shell, *WITHOUT_PROMPT.get(Path(shell).name, [])]
