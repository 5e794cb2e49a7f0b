"""`testbed distil`."""

from __future__ import annotations

from testbed.cli.shared import Format, Formatted
from testbed.cli.shared_job import DryRun, Name, Options, Out, Preset, Seed, run_job


def distil(  # noqa: PLR0917 - one parameter per option
    name: Name,
    settings: Options = None,
    seed: Seed = None,
    preset: Preset = None,
    out: Out = None,
    dry_run: DryRun = False,
    format: Formatted = Format.text,
) -> None:
    """Turn a trained policy into a form that decides faster, accepted by how it controls.

        testbed distil adpg --set network=mine/network.json --out trees

    It is accepted by closed loops of up to 1024 flows, or refused after four seeds (exit code 1).
    """
    run_job("distil", name, settings, {"seed": seed}, preset, out, dry_run, format)
