"""A policy in pictures: the response surface, the trees with their questions and leaves, what features matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.results.report.drawing import Drawing
from testbed.results.report.vector import as_svg, drawing, standalone, theme

from .controller import Policy
from .explain import NAMES, Importance, surface
from .observation import HIGHEST_X
from .tree import Trees

VIEWS = (("whole range", (-0.8, HIGHEST_X)), ("near rest", (-0.8, 0.8)))
POINTS = 161
COLUMNS, CELL, ROW, BARS, GAP = 4, 235, 17, 60, 26  # of the drawing of the trees


def surfaces(network: Policy, trees: Policy) -> str:
    """Multipliers over x(k-1) and x(k) at m = 1: the network's beside the trees'."""
    from matplotlib.colors import TwoSlopeNorm

    with drawing((7.0, 6.2)) as figure:
        panels = figure.subplots(len(VIEWS), 2, squeeze=False)
        for row, (view, (low, high)) in zip(panels, VIEWS, strict=True):
            x = np.linspace(low, high, POINTS)
            values = [surface(policy, x, x) for policy in (network, trees)]
            least, most = min(one.min() for one in values), max(one.max() for one in values)
            least, most = min(least, 0.999), max(most, 1.001)
            levels = np.unique([*np.linspace(least, 1, 9), *np.linspace(1, most, 5)])
            for panel, name, value in zip(row, ("network", "trees"), values, strict=True):
                drawn = panel.contourf(x, x, value, levels, cmap="RdBu", norm=TwoSlopeNorm(1, least, most))
                panel.contour(x, x, value, [1.0], colors="black", linewidths=1.2)
                panel.set_title(f"{name}, {view}", loc="left", fontsize=8)
                panel.set_xlabel("x(k-1)")
                panel.set_ylabel("x(k)")
            figure.colorbar(drawn, ax=list(row), label="multiplier at m = 1", format="%.3f")
        figure.suptitle("Response surface; black: the rate stays", x=0.01, ha="left", fontweight="bold", fontsize=9)
        return as_svg(figure, "Response surface")


def importance(matters: Mapping[str, Importance]) -> str:
    """Bars: variance that the splits explain, and how far the output goes when a feature is set to rest."""
    with drawing((7.0, 1.6 * len(matters) + 0.4)) as figure:
        places, colours = np.arange(len(NAMES)), theme()
        rows = figure.subplots(len(matters), 2, squeeze=False)
        for (left, right), (kind, one) in zip(rows, matters.items(), strict=True):
            left.barh(places, 100 * one.explained, 0.6, color=colours["accent"])
            right.barh(places - 0.2, one.network, 0.36, color=colours["c7"], label="network")
            right.barh(places + 0.2, one.trees, 0.36, color=colours["accent"], label="trees")
            left.set_title(f"states: {kind}", loc="left", fontsize=8)
            right.legend(frameon=False)
            for panel in (left, right):
                panel.set_yticks(places, NAMES)
                panel.invert_yaxis()
        left.set_xlabel("variance that the trees' questions explain, %")
        right.set_xlabel("RMS change of the multiplier with it at rest")
        return as_svg(figure, "Feature importance")


def drawn_trees(trees: Trees, reached: Floats) -> str:
    """Every tree: its questions, and a bar per leaf; pale bars are leaves that closed loops hardly reach."""
    count, depth = trees.feature.shape
    high = GAP + depth * ROW + BARS + 24
    rows = -(-count // COLUMNS)
    drawing = Drawing(COLUMNS * CELL + 20)
    drawing.box((0, 0, drawing.width, rows * high + 30), "paper")
    drawing.text(
        (10, 20),
        "Each tree's answers are the bits of a leaf's number; the multiplier is the sum of one leaf of each tree",
    )
    for number in range(count):
        at = (10 + number % COLUMNS * CELL, 30 + number // COLUMNS * high)
        _tree(drawing, at, number, trees, reached[number])
    return standalone(drawing.svg(rows * high + 30, "The trees", 11))


def _tree(drawing: Drawing, at: tuple[float, float], number: int, trees: Trees, reached: Floats) -> None:
    x, y = at
    # A tree's mean is part of the sum's constant; what it decides is how its leaves differ.
    leaves = trees.leaves[number] - (trees.leaves[number] * reached).sum()
    most = float(np.abs(leaves).max()) or 1.0
    drawing.text((x, y + 14), f"tree {number + 1}: leaves within {most:.2g}", bold=True)
    for bit, (feature, border) in enumerate(zip(trees.feature[number], trees.border[number], strict=True)):
        drawing.text((x, y + GAP + bit * ROW + 6), f"bit {bit}: {NAMES[feature]} > {border:.4g}", "muted")
    base = y + GAP + len(trees.feature[number]) * ROW + BARS / 2
    wide = (CELL - 20) / len(leaves)
    for leaf, value in enumerate(leaves):
        tall = abs(value) / most * BARS / 2
        colour = ("accent" if value > 0 else "limit") if reached[leaf] > 1e-3 else "faint"
        title = f"leaf {leaf:0{len(trees.feature[number])}b}: {value:+.4g}, reached by {reached[leaf]:.2%}"
        box = (x + leaf * wide, base - tall if value > 0 else base, wide - 1, max(tall, 0.5))
        drawing.box(box, colour, title=title)
    drawing.line((x, base), (x + CELL - 20, base), "muted", width=0.5)


def flow(time: Floats, panels: list[tuple[str, list[tuple[str, Floats, str]]]], title: str) -> str:
    """Curves over time, one panel each: label and (name, values, colour)."""
    with drawing((7.0, 1.5 * len(panels) + 0.5)) as figure:
        axes: Any = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        colours = theme()
        for panel, (label, curves) in zip(axes, panels, strict=True):
            for name, values, colour in curves:
                panel.plot(time * 1e6, values, color=colours[colour], linewidth=0.8, label=name)
            panel.set_ylabel(label)
            panel.grid(color=colours["rule"], linewidth=0.5)
            if len(curves) > 1:
                panel.legend(frameon=False, ncols=len(curves), loc="upper right")
        axes[-1].set_xlabel("time, us (nominal)")
        axes[0].set_title(title, loc="left", fontweight="bold", fontsize=9)
        return as_svg(figure, title)
