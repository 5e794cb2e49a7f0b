"""`testbed run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from testbed.commands.shared import ExperimentArgument, Format, Formatted, Settings, print_resolved, resolve
from testbed.errors import TestbedError


def run(  # noqa: PLR0917 - one parameter per option
    experiment: ExperimentArgument,
    controller: Annotated[str, typer.Option(help="Congestion control instead of the file's: a name or a path.")] = "",
    tuner: Annotated[str, typer.Option(help="ECN tuner instead of the file's: a name or a path.")] = "",
    settings: Settings = None,
    duration: Annotated[str, typer.Option(help="Nominal length, for example '10 ms'.")] = "",
    dilation: Annotated[str, typer.Option(help="Wall seconds per nominal second, or 'auto'.")] = "",
    seed: Annotated[str, typer.Option(help="Seed of everything random.")] = "",
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and print the experiment; build nothing.")] = False,
    format: Formatted = Format.text,
) -> None:
    """Run an experiment (needs root)."""
    options = {"time.duration": duration, "time.dilation": dilation, "seed": seed}
    resolved = resolve(experiment, {"controller": controller, "tuner": tuner}, options, settings)
    if dry_run:
        print_resolved(resolved, format)
        return
    from testbed import doctor

    doctor.require()
    from testbed.run import execute
    from testbed.telemetry.progress import Progress

    outcome = execute(resolved, out, Progress())
    if format is Format.json:
        print(outcome.summary.to_json())
    else:
        from rich.console import Console

        from testbed.report.table import render

        Console().print(render(outcome.summary))
    print(f"results: {outcome.folder}", file=sys.stderr)
    if outcome.failure:
        raise TestbedError(f"{outcome.failure}; what was measured until then is kept")
    raise typer.Exit(int(outcome.summary.verdict.exit_code))
