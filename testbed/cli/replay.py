"""`testbed replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testbed.cli import completion
from testbed.cli.shared import Format, Formatted, Trust, print_json


def replay(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A results folder.")],
    controller: Annotated[
        str,
        typer.Option(
            metavar="NAME|PATH",
            help="Another controller on the same feedback: a name or a path.",
            autocompletion=completion.plugins("controller"),
        ),
    ] = "",
    trust: Trust = False,
    format: Formatted = Format.text,
) -> None:
    """Feed a run's recorded feedback to its controller again: same decisions, or where is the first difference?

        testbed replay results/incast-8-swift-20261128-071200 --controller ./my_swift.py

    Every rate, window and timer of `decisions.parquet` is compared byte for byte. Exit code 1: different, or the
    controller failed; 2: no results folder, another schema version, or no record (`record.decisions`).
    """
    from testbed.sdk import replay as recorded

    done = recorded.replay(run, controller, trust=trust)
    if format is Format.json:
        print_json(done.as_dict())
    else:
        for line in done.as_lines():
            print(line)
    raise typer.Exit(int(not done.identical))
