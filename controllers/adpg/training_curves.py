"""How a training went, as a picture: the score, and per number of senders queue, utilisation and fairness."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from testbed.results.report.vector import as_svg, drawing, theme

from .evaluate import Figures

if TYPE_CHECKING:
    from .training import Attempt

SIZE = (7.0, 7.0)  # inches
PANELS: tuple[tuple[str, Callable[[Figures], float], float | None], ...] = (
    ("queue / oracle", lambda one: one.queue / one.oracle, 1.0),
    ("utilisation %", lambda one: one.su, 100.0),
    ("fairness, min / max", lambda one: one.fr, 1.0),
)


def draw(attempt: Attempt) -> str:
    """The SVG's text; the same for the same training."""
    with drawing(SIZE) as figure:
        axes = figure.subplots(1 + len(PANELS), 1, sharex=True)
        updates = [check.update for check in attempt.history]
        colours = theme()
        axes[0].plot(updates, [check.score for check in attempt.history], color=colours["ink"], linewidth=1)
        axes[0].set_yscale("log")
        axes[0].yaxis.set_major_formatter("{x:g}")  # powers would need mathtext
        axes[0].set_ylabel("score, less is better")
        axes[0].set_title(f"Training, seed {attempt.seed}", loc="left", fontweight="bold", fontsize=9)
        for panel, (label, value, aim) in zip(axes[1:], PANELS, strict=True):
            for number, first in enumerate(attempt.history[0].figures):
                curve = [value(check.figures[number]) for check in attempt.history]
                panel.plot(updates, curve, color=colours[f"c{number % 8}"], linewidth=1, label=f"{first.flows} senders")
            if aim is not None:
                panel.axhline(aim, color=colours["faint"], linewidth=0.8, linestyle="--")
            panel.set_ylabel(label)
        axes[1].set_ylim(0, 3)
        axes[2].set_ylim(0, 104)
        axes[3].set_ylim(0, 1.04)
        axes[1].legend(frameon=False, ncols=4, loc="upper right")
        axes[-1].set_xlabel("updates")
        for panel in axes:
            panel.axvline(attempt.best.update, color=colours["limit"], linewidth=0.8, linestyle=":")
            panel.grid(color=colours["rule"], linewidth=0.5)
        return as_svg(figure, "Training")
