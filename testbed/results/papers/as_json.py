"""The comparison as plain data: nothing is rounded, and what is unknown is null."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from testbed.results.compare.median import Estimate
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
        "here": _estimate(one.ours),
        "printed": one.printed,
        "difference": None if math.isnan(one.difference) else one.difference,
        "word": one.word,
        "degraded": one.degraded,
    }


def _estimate(found: Estimate | None) -> dict[str, float | None] | None:
    if found is None:
        return None
    return {key: None if math.isnan(value) else value for key, value in asdict(found).items()}
