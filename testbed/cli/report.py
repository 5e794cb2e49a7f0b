"""`testbed report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testbed.cli.shared import Format, Formatted, answer


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A results folder.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE|FOLDER", help="Write there: a name in .html for the page alone, else a folder."),
    ] = None,
    flow: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Show the decisions for this flow; may be repeated.")
    ] = None,
    format: Formatted = Format.text,
) -> None:
    """Write report.html of a results folder again, and its plots for print: plots/*.svg.

        testbed report results/incast-64-dcqcn-20261128-071200 --flow h3-h65 --out one-flow.html

    Without --flow up to 16 flows, of all kinds, show their decisions.
    """
    from testbed.results.report import build

    written = build.rebuild(run, out, flow or [])
    answer(format, {"report": str(written[0]), "plots": str(written[1]) if len(written) > 1 else None}, written)
