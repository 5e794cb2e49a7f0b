"""What a contender looks like: the same in all plots of a comparison."""

from __future__ import annotations

from testbed.base.strange import file_name
from testbed.results.compare.comparison import Comparison
from testbed.results.report.plot import Dash, Symbol

COLOURS = 8
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot")
SYMBOLS: tuple[Symbol, ...] = ("circle", "triangle", "cross", "star")  # colour is not all that tells them apart


def colour_of(comparison: Comparison, contender: str) -> str:
    """By its place."""
    return f"c{comparison.contenders.index(contender) % COLOURS}"


def dash_of(comparison: Comparison, contender: str) -> Dash:
    """Another one when the colours begin anew."""
    return DASHES[comparison.contenders.index(contender) // COLOURS % len(DASHES)]


def symbol_of(comparison: Comparison, contender: str) -> Symbol:
    """By its place as well."""
    return SYMBOLS[comparison.contenders.index(contender) % len(SYMBOLS)]


def slug(text: str) -> str:
    """What a file is called after it."""
    return file_name(text).strip("-")
