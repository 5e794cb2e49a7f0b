"""`testbed export`."""

from __future__ import annotations

from typing import Annotated

import typer

from testbed.cli.shared import Format, Formatted
from testbed.cli.shared_job import DryRun, Name, Options, Out, Preset, run_job


def export(  # noqa: PLR0917 - one parameter per option
    name: Name,
    to: Annotated[str, typer.Option(metavar="TARGET", help="What for: --dry-run lists the targets.")],
    settings: Options = None,
    preset: Preset = None,
    out: Out = None,
    dry_run: DryRun = False,
    format: Formatted = Format.text,
) -> None:
    """Write a trained policy as source code for another target, checked against the original."""
    run_job("export", name, settings, {"to": to}, preset, out, dry_run, format)
