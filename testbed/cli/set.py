"""`testbed set`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testbed.cli.shared import Format, Formatted, answer, chosen
from testbed.errors import BadInput

if TYPE_CHECKING:
    from testbed.live.reached import ReachedRun


def set_(
    settings: Annotated[list[str], typer.Argument(metavar="KEY=VALUE...", help="Such as q3.kmin='100 kB'.")],
    run: Annotated[
        str, typer.Option(metavar="RUN", help="Name of its results folder; not needed if it is the only run.")
    ] = "",
    format: Formatted = Format.text,
) -> None:
    """Change thresholds, weights, links or options of a run that goes on.

        testbed set q3.kmin='100 kB' q3.kmax='400 kB'
        testbed set down=leaf1-spine2 detected_after='300 us' --run incast-64-dcqcn-20261128-071200

    All change at once, at a time which the answer names. Keys are those of events
    (docs/reference/racks.md). The edit becomes an event of the run, which `testbed rerun` repeats.
    Root's runs are changed by root, others by who started them; not in a lab or the fluid model.
    """
    from testbed.live.reached import ReachedRun
    from testbed.units import show_time

    told = _read(settings)
    reached = _choose(ReachedRun.all(), run)
    done = reached.edit(told)
    answer(format, {"run": reached.name, **done}, [f"{reached.name}: {done['what']} at {show_time(done['at'])}"])


def _read(settings: list[str]) -> dict[str, Any]:
    import yaml

    told = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key.strip():
            raise BadInput(f"{setting}: expected KEY=VALUE, for example q3.kmin='100 kB'")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            value = text
        if not isinstance(value, str | int | float):
            raise BadInput(f"{setting}: expected a number or a text behind =")
        told[key.strip()] = value
    return told


def _choose(runs: list[ReachedRun], run: str) -> ReachedRun:
    none = "no run goes on here that can be edited; start one with: testbed run EXPERIMENT"
    return chosen(runs, Path(run).name, none, "with --run RUN")
