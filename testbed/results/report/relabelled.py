"""A plot in its reader's words: another title, other names for axes and curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from testbed.errors import BadInput, nearest
from testbed.results.report.plot import Plot

AXES = ("x", "y")


def relabelled(plot: Plot, title: str | None, labels: Mapping[str, str]) -> Plot:
    """``labels``: ``x`` and ``y`` (of the uppermost panel), or a curve's name, to what stands there instead.

    Without a title (``""``) there is no note either: a paper says both in its caption. Raises BadInput.
    """
    names = [line.name for line in plot.lines]
    for key in labels:
        if key not in (*AXES, *names):
            raise BadInput(f"labels: {plot.slug} has no '{key}'; {nearest(key, [*AXES, *dict.fromkeys(names)])}")
    panels = [
        replace(panel, lines=[replace(line, name=labels.get(line.name, line.name)) for line in panel.lines])
        for panel in plot.panels
    ]
    x = replace(plot.x, label=labels.get("x", plot.x.label))
    panels[0] = replace(panels[0], y=replace(panels[0].y, label=labels.get("y", panels[0].y.label)))
    named = replace(plot, panels=panels, x=x, name=plot.slug)
    return named if title is None else replace(named, title=title, note=named.note if title else "")
