"""`testbed replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testbed.cli.shared import Format, Formatted, Trust, answer, plugin


def replay(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A results folder.")],
    controller: Annotated[str, plugin("controller", "Another one on the same feedback: a name or a path.")] = "",
    trust: Trust = False,
    format: Formatted = Format.text,
) -> None:
    """Feed a run's recorded feedback to its controller again, and compare decisions.

        testbed replay results/incast-8-swift-20261128-071200 --controller ./my_swift.py

    Every rate, window and timer of `decisions.parquet` is compared byte for byte. Exit code 1: different, or the
    controller failed; 2: no record (`record.decisions`).
    """
    from testbed.sdk import replay as recorded

    done = recorded.replay(run, controller, trust=trust)
    answer(format, done.as_dict(), done.as_lines())
    raise typer.Exit(int(not done.identical))
