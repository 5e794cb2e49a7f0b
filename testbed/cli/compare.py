"""`testbed compare`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from testbed.cli.shared import Format, Formatted, print_json


def compare(  # noqa: PLR0917 - one parameter per option
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Results folders, or folders of them (a sweep).")
    ],
    baseline: Annotated[
        str,
        typer.Option(
            metavar="NAME or FOLDER",
            help="A controller, a variant, or a folder of results; by default the first controller.",
        ),
    ] = "",
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="Exit code 1 if it holds for a variant's medians: 'su < 0.9*baseline'; may be repeated.",
        ),
    ] = None,
    clean_only: Annotated[bool, typer.Option("--clean-only", help="Leave degraded runs out.")] = False,
    allow_degraded: Annotated[
        bool, typer.Option("--allow-degraded", help="Let --fail-if judge degraded runs, which else fail it.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write comparison.html, comparison.json and plots/*.svg there."),
    ] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a line per variant and figure.")] = None,
    format: Formatted = Format.text,
) -> None:
    """Hold runs against each other: medians, intervals, dominance, and a gate for CI.

        testbed compare sweep1 --out comparison
        testbed compare now --baseline stored --fail-if 'su < 0.9*baseline' --fail-if 'ql_p99 > 20*us and drops > 0'

    What is better, worse and dominated: docs/howto/compare.md.

    A condition has figures of summary.json in SI units; `ns us ms s kbit Mbit Gbit`; `baseline`; `+ - * /`,
    parentheses, `< <= > >=`, `and`, `or`, `not`. Exit code 1: a condition holds, or cannot be decided (an unknown
    figure, no baseline, a missing cell, a degraded run).
    """
    from testbed.results.compare import gather
    from testbed.results.compare.as_csv import as_csv
    from testbed.results.compare.comparison import as_json

    gates = gather.gates(fail_if or [])
    target = _target(out)
    made = gather.compare(runs, baseline, clean_only=clean_only, with_curves=target is not None)
    results = [made.judge(gate, allow_degraded) for gate in gates]
    if format is Format.json:
        print_json(as_json(made, results))
    else:
        from rich.console import Console

        from testbed.results.compare.table import render

        Console(highlight=False).print(render(made))
    if csv:
        _write(csv.expanduser(), as_csv(made))
    if target:
        from testbed.results.compare import page

        page.write(target, made, results)
        print(f"page: {target / page.PAGE}", file=sys.stderr)
    failed = [(result.gate.text, each) for result in results for each in result.failures]
    for text, each in failed:
        print(f"testbed: --fail-if '{text}': {each.variant}: {each.why}", file=sys.stderr)
    raise typer.Exit(int(bool(failed)))


def _write(file: Path, text: str) -> None:
    from testbed.base.atomic import atomic_write
    from testbed.errors import BadInput

    try:
        atomic_write(file, text.encode())
    except OSError as error:
        raise BadInput(f"--csv {file}: {error.strerror or error}") from None


def _target(out: Path | None) -> Path | None:
    from testbed.results import folder

    return None if out is None else folder.prepare(out, "")
