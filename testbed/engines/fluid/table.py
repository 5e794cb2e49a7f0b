"""The table of a run of the fluid model: the rows of `testbed.results.report.rows`; nothing of it is packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.engines.fluid.figures import Figures
from testbed.results.report import table
from testbed.results.report.rows import UNKNOWN, rows
from testbed.results.summary import Summary

if TYPE_CHECKING:
    from rich.console import RenderableType

NOTE = (
    "This is the fluid model: no packets, no queue of ACKs, no timeouts; RTT and p99 are over time. "
    "'testbed run' is the rack."
)


def render(figures: Figures) -> RenderableType:
    """For rich; without a terminal it prints as plain text."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    nothing = float("nan")
    summary = Summary.model_construct(
        **figures.model_dump(), bottleneck="", decision_per_row=nothing, decision_per_call=nothing
    )
    shown = Table.grid(padding=(0, 1))
    shown.add_column(style="bold", no_wrap=True)
    for _ in range(3):
        shown.add_column(justify="right", no_wrap=True)
        shown.add_column(style="dim", no_wrap=True)
    for row in rows(summary):
        known = [value for value in row.values if value[0] != UNKNOWN]
        if known and row.name != "decision":  # wall time per decision is a matter of the rack's agents
            shown.add_row(row.name, *(Text(cell) for value in known for cell in value))
    scope = table.scope(summary).removeprefix(" at ")
    how = (
        f"{figures.probes} probes per flow, {figures.decisions:,} decisions, {figures.wall_seconds:.1f} s of wall time"
    )
    notes = [Text(note, style="dim") for note in (how, *table.notes(summary)[1:], NOTE)]
    return Group(Text(f"{table.title(summary)} · fluid model", style="bold"), Text(scope, style="dim"), Text(), shown,
                 Text(), *notes)  # fmt: skip
