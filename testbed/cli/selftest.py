"""`testbed selftest`."""

from __future__ import annotations

from typing import Annotated

import typer

from testbed.cli.shared import Format, Formatted, print_json


def selftest(
    quiet: Annotated[int, typer.Option(metavar="NUMBER", help="Undisturbed runs.")] = 3,
    only: Annotated[str, typer.Option(metavar="TEXT", help="Only faults whose name contains this.")] = "",
    format: Formatted = Format.text,
) -> None:
    """Break runs on purpose, and see that the verdict names what is wrong (needs root; about a minute and a half).

        sudo testbed selftest --only 'wrong rate'

    Undisturbed runs must be clean, and injected faults be named (docs/explanation/fidelity.md). Exit code 1: a verdict
    missed one.
    """
    from testbed.engines.kernel import doctor

    doctor.require()
    from testbed.runs.selftest import examine

    findings = []
    for one in examine(quiet, only):
        findings.append(one)
        if format is Format.text:
            print(f"{'right' if one.right else 'WRONG'}  {one.name}: {one.said}", flush=True)
    if format is Format.json:
        print_json([one.as_dict() for one in findings])
    raise typer.Exit(int(not all(one.right for one in findings)))
