"""`testbed train`."""

from __future__ import annotations

from testbed.cli.shared import Format, Formatted
from testbed.cli.shared_job import DryRun, Name, Options, Out, Preset, Seed, run_job


def train(  # noqa: PLR0917 - one parameter per option
    name: Name,
    settings: Options = None,
    seed: Seed = None,
    preset: Preset = None,
    out: Out = None,
    dry_run: DryRun = False,
    format: Formatted = Format.text,
) -> None:
    """Train a learned plugin: a new policy, with the log that gives it again."""
    run_job("train", name, settings, {"seed": seed}, preset, out, dry_run, format)
