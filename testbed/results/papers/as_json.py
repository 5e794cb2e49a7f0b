"""The comparison as plain data: nothing is rounded, and what is unknown is null."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from testbed.results.papers import table
from testbed.results.papers.cells import TableCell, cuts
from testbed.results.papers.figures import Figures
from testbed.results.papers.judge import judge
from testbed.results.papers.notes import notes


def as_dict(figures: Figures, table_cells: list[TableCell], *, quick: bool) -> dict[str, Any]:
    """Everything that the table shows."""
    comparison = figures.comparison
    return {
        "name": comparison.name,
        "title": comparison.title,
        "source": comparison.source.model_dump(),
        "equal": comparison.equal.model_dump(),
        "cells": [
            {
                "column": column,
                "row": row,
                "metric": metric,
                "unit": comparison.metrics[metric].unit,
                **_pair(figures, row, column, metric),
                "runs": len(figures.measured.of(row, column)),
                "empty": table.why_empty(figures, row, column),
            }
            for column in comparison.columns
            for row in comparison.rows
            for metric in comparison.metrics
        ],
        "judged": [asdict(one) | {"same_order": one.same_order, "far": one.far} for one in judge(figures)],
        "cut": cuts(comparison) if quick else [],
        "notes": list(notes(figures, table_cells, quick)),
        "failed": figures.measured.failures,
        "refused": figures.measured.refused,
    }


def _pair(figures: Figures, row: str, column: str, metric: str) -> dict[str, Any]:
    one = figures.pair(row, column, metric)
    return {
        "here": one.ours and asdict(one.ours),
        "printed": one.printed,
        "difference": one.difference,
        "word": one.word,
        "degraded": one.degraded,
    }
