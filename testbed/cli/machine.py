"""`testbed doctor`, `selftest` and `version`: this machine and this testbed."""

from __future__ import annotations

from typing import Annotated

import typer

from testbed.cli.shared import Format, Formatted, print_json


def doctor(format: Formatted = Format.text) -> None:
    """Say what this machine can do, and how to get what is missing."""
    from testbed.engines.kernel import doctor as machine
    from testbed.engines.kernel.speed import suggest

    suggestion = suggest()
    probes = [*machine.examine(), suggestion.probe]
    if format is Format.json:
        probed = {"status": machine.worst(probes), "probes": machine.as_dicts(probes)}
        print_json({**probed, "speed": suggestion.as_dict()})
    else:
        for line in machine.as_lines(probes):
            print(line)
    raise typer.Exit(int(machine.worst(probes) == "missing"))


def selftest(
    quiet: Annotated[int, typer.Option(help="Undisturbed runs, which must be clean.")] = 3,
    only: Annotated[str, typer.Option(help="Only faults whose name contains this.")] = "",
    format: Formatted = Format.text,
) -> None:
    """Break runs on purpose, and see that the verdict names what is wrong (needs root; about a minute)."""
    from testbed.engines.kernel import doctor
    from testbed.run.selftest import examine

    doctor.require()
    findings = []
    for one in examine(quiet, only):
        findings.append(one)
        if format is Format.text:
            print(f"{'right' if one.right else 'WRONG'}  {one.name}: {one.said}", flush=True)
    if format is Format.json:
        print_json([one.as_dict() for one in findings])
    raise typer.Exit(int(not all(one.right for one in findings)))


def version() -> None:
    """Print the version."""
    from testbed import __version__

    print(__version__)
