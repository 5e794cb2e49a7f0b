"""`testbed explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testbed.cli.shared import Format, Formatted, Trust
from testbed.cli.shared_job import DryRun, Name, Options, Out, Preset, run_job


def explain(  # noqa: PLR0917 - one parameter per option
    name: Name,
    settings: Options = None,
    run: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Also explain what was decided there.")] = None,
    flow: Annotated[str | None, typer.Option(metavar="NAME", help="Of --run; by default the first.")] = None,
    trust: Trust = False,
    preset: Preset = None,
    out: Out = None,
    dry_run: DryRun = False,
    format: Formatted = Format.text,
) -> None:
    """Say what a learned policy does, and why: as text, and as a page with pictures.

        testbed explain adpg --out why
        testbed explain adpg --run results/incast-64-adpg-20261128-071200 --flow h1-h65

    With --run it repeats a flow's decisions, with each feature's effect on them.
    """
    given = {"run": run and str(run), "flow": flow, "trust": trust or None}
    run_job("explain", name, settings, given, preset, out, dry_run, format)
