"""`testbed shell`: a host or a switch of a run that goes on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.cli.help import Command
from testbed.cli.shared import Format, Formatted, print_json
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
        str,
        typer.Argument(metavar="RUN", help="The run's results folder, or its name; not needed if it is the only one."),
    ] = "",
    host: Annotated[str, typer.Argument(metavar="HOST", help="A host (h3) or a switch (s1).")] = "",
    format: Formatted = Format.text,
) -> None:
    """Enter a host or a switch of a run that goes on, or list them (needs root).

        sudo testbed shell
        sudo testbed shell h1 -- tcpdump -ni e0 -c 10

    What stands behind -- is run there; without it, $SHELL. Network, processes and names are the rack's, files the
    machine's. What is started inside ends with the run, shares its cores, and its packets are in the figures. The
    exit code is the command's.
    """
    if os.geteuid() != 0:
        raise TestbedError("the namespaces of a rack are root's; run it with sudo: sudo testbed shell ...")
    from testbed.engines.nodes import RunningRack

    racks = RunningRack.all()
    if run and not host and not _named(racks, run):
        run, host = "", run
    rack, command = _choose(racks, run), context.meta.get(COMMAND)
    if not host:
        if command is not None:
            raise BadInput("run a command where? testbed shell [RUN] HOST -- COMMAND")
        _list(rack, format)
        return
    from testbed.engines.kernel.enter import enter

    node = rack.node(host)
    environment = {**os.environ, "PS1": f"{node.name}# "}
    raise typer.Exit(enter(rack, node, command or _own_shell(), environment))


def _named(racks: Sequence[RunningRack], run: str) -> list[RunningRack]:
    return [rack for rack in racks if rack.run == Path(run).name]


def _choose(racks: Sequence[RunningRack], run: str) -> RunningRack:
    names = [rack.run for rack in racks]
    if not racks:
        raise BadInput("no run goes on here; start one with: sudo testbed run EXPERIMENT")
    found = _named(racks, run) if run else list(racks)
    if not found:
        from testbed.errors import nearest

        raise BadInput(f"no run '{run}' goes on here; {nearest(run, names)}")
    if len(found) > 1:
        raise BadInput(f"{len(found)} runs go on here; say which, testbed shell RUN HOST: {', '.join(names)}")
    return found[0]


def _own_shell() -> list[str]:
    shell = os.environ.get("SHELL") or "/bin/sh"
    return [shell, *WITHOUT_PROMPT.get(Path(shell).name, [])]


def _list(rack: RunningRack, format: Format) -> None:
    if format is Format.json:
        print_json({"run": rack.run, "nodes": [{"name": one.name, "address": one.address} for one in rack.nodes]})
        return
    for node in rack.nodes:
        print(f"{node.name}  {node.address or 'switch'}")
