"""A matrix of shares as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from testbed.base.arrays import Floats
from testbed.base.extras import need

CELL = 0.8  # inches


def draw(file: Path, names: Sequence[str], share: Floats) -> None:
    """Blue got more than its fair share (1), red less; what the picture is (SVG, PNG, PDF) is the file's suffix."""
    need("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = CELL * (len(names) + 2)
    figure = Figure((size, size), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.imshow(share, cmap="RdBu", vmin=0, vmax=2)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("beside")
    axes.set_ylabel("got, of its fair share")
    for row in range(len(names)):
        for column in range(len(names)):
            value = share[row, column]
            ink = "white" if abs(value - 1) > 0.6 else "black"
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=ink)
    figure.savefig(file)
