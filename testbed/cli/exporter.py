"""`testbed exporter`: a lab host's settings, policy and counters for Prometheus."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from testbed.errors import BadInput

MOST_SECONDS = 30.0  # registers are exported for 60 s after they were read


def exporter(
    listen: Annotated[
        str | None, typer.Option(metavar="ADDRESS:PORT", help="The host's management address; 9465 is usual.")
    ] = None,
    write_registers: Annotated[
        bool, typer.Option("--write-registers", help="As root: read the NICs' registers into a file, and do not serve.")
    ] = False,
    every: Annotated[
        float | None,
        typer.Option(
            min=1, max=MOST_SECONDS, metavar="SECONDS", help="With --write-registers: again and again; else once."
        ),
    ] = None,
    root: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder that stands for / (for tests).")] = Path("/"),
) -> None:
    """Export a lab host's settings, drift, policy, PCC and NIC counters, until SIGTERM.

        testbed exporter --listen 10.99.0.1:9465
        sudo testbed exporter --write-registers --every 15

    It needs no root but to read registers, which it does in a process of its own (docs/howto/lab.md).
    """
    from testbed.engines.lab.exporter import serve

    if bool(listen) == write_registers:
        raise BadInput(f"say either --listen ADDRESS:PORT, as {serve.EXAMPLE}, or --write-registers")
    if every is not None and not write_registers:
        raise BadInput("--every goes with --write-registers; a scrape reads the host when it comes")
    if not os.access(root, os.R_OK | os.X_OK):
        raise BadInput(f"--root {root}: there is no such folder, or it may not be read")
    if listen:
        serve.serve(listen, root)
    else:
        serve.write_registers(root, every)
