"""The results of one run, as Python has them: figures, tables, plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from testbed.errors import BadInput, nearest
from testbed.results import folder as results
from testbed.results.folder import Results
from testbed.results.manifest import Manifest
from testbed.results.measured import restore
from testbed.results.report import build, table, vector
from testbed.results.report.relabelled import relabelled
from testbed.results.summary import Summary

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from testbed.results.report.content import Report

SMALLEST, LARGEST = 1.5, 50  # inches of a figure
SPARKS, WIDTH, HEIGHT = 120, 360, 36  # bars of the sparkline, and its pixels


@dataclass(frozen=True)
class Series:
    """Samples over time, a row per time and flow or port. Times s, sizes bytes, rates bit/s; counters cumulative."""

    flows: pa.Table
    ports: pa.Table


@dataclass(frozen=True)
class Run:
    """A results folder. Tables are pyarrow's (docs/reference/results.md); ``to_pandas()`` needs pandas.

    Everything is read when it is first asked for. What is missing or damaged raises `testbed.BadInput`.
    """

    folder: Path

    @cached_property
    def _read(self) -> Results:
        return results.load(self.folder)

    @property
    def summary(self) -> Summary:
        """Every figure, SI units, and the verdict: ``run.summary.su``, ``run.summary.verdict.word``."""
        return self._read.summary

    @property
    def manifest(self) -> Manifest:
        """What is needed to run it again."""
        return self._read.manifest

    @property
    def flows(self) -> pa.Table:
        """A row per flow: totals, completion, base RTT."""
        return self._read.tables["flows"]

    @property
    def ports(self) -> pa.Table:
        """A row per switch port."""
        return self._read.tables["ports"]

    @property
    def series(self) -> Series:
        """``run.series.flows`` and ``run.series.ports``, over time."""
        return Series(self._read.tables["flow_series"], self._read.tables["port_series"])

    @cached_property
    def _report(self) -> Report:
        return build.build(self.folder)

    @property
    def figures(self) -> list[str]:
        """The names that `figure` knows."""
        return [plot.slug for plot in self._report.plots]

    def figure(
        self,
        name: str,
        *,
        title: str | None = None,
        size: tuple[float, float] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Figure:
        """A plot of the report, drawn by matplotlib: ``run.figure("queue").savefig("queue.pdf")``. Raises BadInput.

        ``title=""`` leaves title and note to the paper's caption; ``size`` is in inches; ``labels`` are other words for
        ``x``, ``y`` and the curves: ``{"y": "queue (kB)", "mean": "DCQCN"}``.
        """
        found = {plot.slug: plot for plot in self._report.plots}
        if name not in found:
            raise BadInput(f"no figure is named '{name}'; {nearest(name, list(found))}")
        if size is not None and not all(SMALLEST <= side <= LARGEST for side in size):
            raise BadInput(f"size: expected width and height in inches, each {SMALLEST} to {LARGEST}, got {size}")
        return vector.figure(relabelled(found[name], title, labels or {}), size)

    def report(self, out: str | Path | None = None) -> Path:
        """Write report.html again, into the folder or to ``out``, and say where it is. Raises BadInput."""
        return build.rebuild(self.folder, None if out is None else Path(out).expanduser())[0]

    def _repr_html_(self) -> str:
        summary = self.summary
        reasons = "".join(f"<li>{escape(line)}</li>" for line in summary.verdict.lines)
        return (
            f"<p><strong>{escape(table.title(summary))}</strong><br>{escape(table.scope(summary))}<br>"
            f"verdict: {summary.verdict.word}</p>{f'<ul>{reasons}</ul>' if reasons else ''}"
            f"{table.figures(summary).html()}{self._sparkline()}"
            + "".join(f"<small>{escape(note)}</small><br>" for note in table.notes(summary))
        )

    def _sparkline(self) -> str:
        """The bottleneck's queue: the highest sample of each of `SPARKS` parts of the run."""
        measured = restore(self._read)
        queue = measured.port_series.queue[:, measured.bottleneck]
        known = queue[np.isfinite(queue)]
        if not len(known) or known.max() <= 0:
            return ""
        highest = np.array([part.max() for part in np.array_split(known, min(SPARKS, len(known)))])
        points = zip(np.linspace(0, WIDTH, len(highest)), HEIGHT * (1 - highest / known.max()), strict=True)
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        return (
            f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 -1 {WIDTH} {HEIGHT + 2}" role="img">'
            f"<title>queue of {escape(self.summary.bottleneck)} over time</title>"
            f'<polyline points="{line}" fill="none" stroke="currentColor"/></svg>'
            f"<br><small>queue, at most {known.max() / 1e3:.4g} kB</small><br>"
        )
