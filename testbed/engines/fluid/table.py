"""The table of a run of the fluid model: the rows of `testbed.results.report.table`; nothing of it is packets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from testbed.engines.fluid.figures import Figures
from testbed.results.report import table
from testbed.results.summary import FIGURES, Summary

if TYPE_CHECKING:
    from rich.console import RenderableType

NOTE = (
    "This is the fluid model: no packets, no queue of ACKs, no timeouts; RTT and p99 are over time. "
    "'testbed run' is the rack."
)


def render(figures: Figures) -> RenderableType:
    """For rich; without a terminal it prints as plain text."""
    from rich.console import Group
    from rich.text import Text

    unknown: dict[str, Any] = {
        name: 0 if Summary.model_fields[name].annotation is int else float("nan") for name in FIGURES
    }
    unknown |= {"bottleneck": "", "messages": [], "lossless": False, "place": "lab"}
    summary = Summary.model_construct(**unknown | figures.model_dump())
    shown = table.figures(summary).terminal()
    summary = summary.model_copy(update={"place": "rack"})
    scope = table.scope(summary).removeprefix(" at ")
    how = (
        f"{figures.probes} probes per flow, {figures.decisions:,} decisions, {figures.wall_seconds:.1f} s of wall time"
    )
    notes = [Text(note, style="dim") for note in (how, *table.notes(summary)[1:], NOTE)]
    return Group(Text(f"{table.title(summary)} · fluid model", style="bold"), Text(scope, style="dim"), Text(), shown,
                 Text(), *notes)  # fmt: skip
