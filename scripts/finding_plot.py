"""A published table that is too long to be read, as a picture: a panel per figure, a colour per contender."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

from compact_svg import drawing
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from testbed.results.papers.comparison import Metric
from testbed.results.papers.figures import Figures, Pair

ACROSS = 3  # panels in a row
PANEL = (3.3, 2.2)  # inches
LEGEND = 0.5  # inches
NUMBER = re.compile(r"\d+(?:\.\d+)?")
WITHIN = 5  # per cent: what differs by more is explained on the page
TICKS = (0.1, 0.2, 0.5, 1, 2, 5)  # of ratios
LOOK = {"font.size": 8, "axes.linewidth": 0.6, "legend.fontsize": 8}


def draw(figures: Figures, file: Path) -> None:
    """Medians with their intervals, filled; what the paper printed, hollow."""
    metrics = list(figures.comparison.metrics.items())
    across = min(ACROSS, len(metrics))
    down = math.ceil(len(metrics) / across)
    with drawing(file, figures.comparison.title, (across * PANEL[0], down * PANEL[1] + LEGEND), **LOOK) as drawn:
        panels = list(drawn.subplots(down, across, squeeze=False).flat)
        for axes, (name, metric) in zip(panels, metrics, strict=False):
            _panel(axes, figures, name, metric)
        for axes in panels[len(metrics) :]:
            axes.axis("off")
        rows = list(figures.comparison.rows)
        legend = [Line2D([], [], color=_colour(at), marker="o", ms=4, label=row) for at, row in enumerate(rows)]
        legend.append(Line2D([], [], color="0.3", marker="o", ms=6, mfc="none", ls="", label="printed"))
        drawn.legend(handles=legend, loc="outside lower center", frameon=False, ncols=5)


def agreement(found: dict[str, Figures], file: Path) -> None:
    """Every figure that was printed, as the ratio of ours to it: a line per comparison, filled where the two are equal.

    A figure of 0 has no ratio and is left out.
    """
    size = (ACROSS * PANEL[0] * 0.7, 0.26 * len(found) + 0.9)
    with drawing(file, "here and printed", size, **LOOK) as drawn:
        axes = drawn.subplots()
        for at, figures in enumerate(reversed(found.values())):
            known = [pair for pair in pairs(figures) if pair.word]
            ratios = [(pair.ours.median / pair.printed, pair.word) for pair in known if _comparable(pair)]
            for word, face in (("equal", _colour(0)), ("miss", "none")):
                x = [ratio for ratio, said in ratios if said == word]
                axes.plot(x, [at] * len(x), "o", color=_colour(0), mfc=face, ms=4, mew=0.8, alpha=0.7)
            equal = sum(pair.word == "equal" for pair in known)
            axes.text(1.01, at, f"{equal} of {len(known)}", transform=axes.get_yaxis_transform(), va="center")
        axes.axvline(1, color="0.3", lw=0.8)
        axes.set_xscale("log")
        axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        axes.set_yticks(range(len(found)), list(reversed(found)))
        axes.set_xlabel("here / printed; filled: equal by the rule of the comparison, and how many of all are")
        axes.grid(axis="y", lw=0.3)


def intervals(rows: Iterable[dict[str, str]], file: Path) -> None:
    """The first figure of each job, its median with the least and the most: a panel per job."""
    panels: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        found = panels.setdefault(row["job"], [])
        if not found or found[0]["figure"] == row["figure"]:
            found.append(row)
    down = math.ceil(len(panels) / 2)
    with drawing(file, "medians and intervals", (2 * PANEL[0], down * PANEL[1] * 0.7), **LOOK) as drawn:
        for axes, (job, found) in zip(drawn.subplots(down, 2, squeeze=False).flat, panels.items(), strict=True):
            for at, row in enumerate(reversed(found)):
                axes.plot([float(row["least"]), float(row["most"])], [at, at], color=_colour(0), lw=0.8, alpha=0.6)
                axes.plot([float(row["median"])], [at], "o", color=_colour(0), ms=4)
            axes.set_yticks(range(len(found)), [row["controller"] for row in reversed(found)], fontsize=7)
            axes.set_title(f"{job}: {found[0]['figure']}", fontsize=8, loc="left")
            axes.set_xlim(left=0)
            axes.grid(axis="x", lw=0.3)


def differences(rows: Iterable[dict[str, str]], file: Path) -> None:
    """What times here differ from theirs by, in per cent: a panel per table of three experiments and more."""
    panels: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if row["figure"].endswith(", us") and row["theirs"] and row["ours"]:
            off = 100 * (float(row["ours"]) / float(row["theirs"]) - 1)
            panels.setdefault(row["table"], {}).setdefault(row["experiment"], []).append(off)
    panels = {title: found for title, found in panels.items() if len(found) >= 3}
    heights = [len(found) + 2 for found in panels.values()]
    with drawing(file, "differences", (2 * PANEL[0], 0.17 * sum(heights)), **LOOK) as drawn:
        drawn.set_layout_engine(None)
        drawn.subplots_adjust(left=0.5, right=0.98, top=0.98, bottom=0.05, hspace=0.5)
        parts = drawn.subplots(len(panels), 1, squeeze=False, sharex=True, gridspec_kw={"height_ratios": heights})
        for axes, (title, found) in zip(parts.flat, panels.items(), strict=True):
            axes.axvspan(-WITHIN, WITHIN, color="0.93", lw=0)
            axes.axvline(0, color="0.3", lw=0.8)
            for at, off in enumerate(reversed(found.values())):
                axes.plot(off, [at] * len(off), "o", color=_colour(0), ms=4, alpha=0.7)
            axes.set_yticks(range(len(found)), list(reversed(found)), fontsize=7)
            axes.set_title(title, fontsize=8, loc="left")
            axes.grid(axis="y", lw=0.3)
        parts[-1, 0].set_xlabel(f"ours against theirs, %; grey: within {WITHIN} %")


def pairs(figures: Figures) -> Iterator[Pair]:
    """All figures of a comparison."""
    about = figures.comparison
    for row, column, metric in product(about.rows, about.columns, about.metrics):
        yield figures.pair(row, column, metric)


def _comparable(pair: Pair) -> bool:
    return bool(pair.ours and pair.ours.median > 0 and isinstance(pair.printed, float | int) and pair.printed > 0)


def _panel(axes: Axes, figures: Figures, name: str, metric: Metric) -> None:
    columns = figures.comparison.columns
    summed = [bool(one.best_of) for one in columns.values()]
    joined = _grows([one.label for one in columns.values() if not one.best_of])
    for at, row in enumerate(figures.comparison.rows):
        pairs = [figures.pair(row, column, name) for column in columns]
        ours = [(x, pair.ours) for x, pair in enumerate(pairs) if pair.ours and math.isfinite(pair.ours.median)]
        x = [place + 0.04 * (at - len(figures.comparison.rows) / 2) for place, _ in ours]
        axes.plot(x, [one.median for _, one in ours], "o", color=_colour(at), ms=2.5)
        own = [(place, one.median) for place, (among, one) in zip(x, ours, strict=True) if joined and not summed[among]]
        axes.plot([place for place, _ in own], [median for _, median in own], color=_colour(at), lw=0.8)
        held = [(place, one) for place, (_, one) in zip(x, ours, strict=True) if one.has_interval]
        axes.vlines(
            [place for place, _ in held], [one.low for _, one in held], [one.high for _, one in held],
            color=_colour(at), lw=0.7, alpha=0.6,
        )  # fmt: skip
        printed = [(x, pair.printed) for x, pair in enumerate(pairs) if isinstance(pair.printed, float | int)]
        axes.plot([x for x, _ in printed], [y for _, y in printed], "o", color=_colour(at), ms=6, mfc="none", mew=0.8)
    axes.set_title(metric.heading, fontsize=8, loc="left")
    axes.set_xticks(range(len(columns)), [one.label for one in columns.values()], rotation=35, ha="right", fontsize=7)
    axes.grid(axis="y", lw=0.3)


def _grows(labels: list[str]) -> bool:
    """Whether columns differ by numbers that grow, so that a line from one to the next means something."""
    numbers = [[float(number) for number in NUMBER.findall(label)] for label in labels]
    return len({NUMBER.sub("", label) for label in labels}) == 1 and numbers == sorted(numbers)


def _colour(at: int) -> str:
    return f"C{at % 10}"
