"""What `testbed run` and `testbed rerun` have in common."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from testbed.cli.shared import Format
from testbed.errors import BadInput, TestbedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from testbed.engines.engine import Engine
    from testbed.experiment.resolved import Resolved
    from testbed.runs.plan import Planned

Out = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Where results go; by default ./results/EXPERIMENT-CONTROLLER-DATE-TIME."),
]
MetricsAddr = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Where Prometheus, 'testbed watch' and browsers find the run, or 'none'. By default 127.0.0.1:9464, or "
        "the next free port.",
    ),
]
Ui = Annotated[bool, typer.Option("--ui", help="Serve a live page there as well, and print its address.")]
AllowEdits = Annotated[
    bool, typer.Option("--allow-edits", help="With --ui: whoever has the printed address can set thresholds.")
]
Inventory = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Ansible inventory: run over its hosts' wires, in real time.")
]
Playbook = Annotated[bool, typer.Option(help="With --inventory: have Ansible check, or push, the testbed first.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check and print the experiment; build nothing.")]


def lab(inventory: Path | None, engine: str | None, playbook: bool) -> tuple[Engine | None, list[str]]:
    """The lab, if there is to be one, and the settings that it brings."""
    if inventory is None:
        return None, []
    if engine:
        raise BadInput(f"--inventory runs over real hosts, --engine {engine} does not: leave one of them out")
    from testbed.engines.lab.engine import LabEngine
    from testbed.engines.lab.operator import restrictions
    from testbed.engines.lab.operator.inventory import read

    hosts = read(inventory)
    return LabEngine(hosts, playbook), [f"{key}={value}" for key, value in restrictions.settings(hosts).items()]


def execute(  # noqa: PLR0917 - as the options come
    planned: Planned,
    out: Path | None,
    metrics_addr: str | None,
    ui: bool,
    format: Format,
    alone: Callable[[str], Resolved] | None = None,
    allow_edits: bool = False,
) -> NoReturn:
    """Run it, print its figures, and end with its verdict's exit code. ``alone``: see `Planned.execute`."""
    from testbed.live.broadcast import observer
    from testbed.runs.overrides import tell

    tell(planned.resolved, set())
    with observer(metrics_addr, ui, allow_edits) as everyone:
        outcome = planned.execute(out, everyone, alone)
    if format is Format.json:
        print(outcome.summary.to_json())
    else:
        from rich.console import Console

        from testbed.results.report.table import render

        Console().print(render(outcome.summary))
    print(f"results: {outcome.folder}", file=sys.stderr)
    if outcome.failure:
        raise TestbedError(f"{outcome.failure}; what was measured until then is kept")
    raise typer.Exit(int(outcome.summary.verdict.exit_code))
