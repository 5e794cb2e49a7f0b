"""`testbed train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testbed.cli.shared import Format, Formatted
from testbed.cli.shared_job import DryRun, Name, Options, Out, Preset, Seed, run_job


def train(  # noqa: PLR0917 - one parameter per option
    name: Name,
    settings: Options = None,
    seed: Seed = None,
    preset: Preset = None,
    out: Out = None,
    start: Annotated[
        Path | None, typer.Option("--from", metavar="RUN", help="Train nothing: keep what this run learned.")
    ] = None,
    dry_run: DryRun = False,
    format: Formatted = Format.text,
) -> None:
    """Train a learned plugin: a new policy, with the log that gives it again.

        testbed train adpg --seed 2 --out mine
        testbed train adpg --dry-run

    On one machine a seed gives the same files to the bit. Where a policy does not converge the next seed is tried. A
    plugin of your own: docs/howto/train.md.
    """
    given = {"seed": seed, "from_run": None if start is None else str(start.absolute())}
    run_job("train", name, settings, given, preset, out, dry_run, format)
