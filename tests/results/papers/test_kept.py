"""Runs as CSV, and back."""

from __future__ import annotations

import math

import pytest

from testbed.errors import BadInput
from testbed.results.papers import kept, table
from testbed.results.papers.cells import NOT_ASKED
from testbed.results.papers.figures import Figures
from testbed.results.papers.notes import notes


def test_what_was_kept_makes_the_same_table(figures: Figures) -> None:
    content = kept.to_csv(figures.comparison, figures.measured)
    assert content.splitlines()[0] == "row,column,seed,engine,verdict,unrest,su,ql_mean,goodput,bottleneck_rate"
    assert len(content.splitlines()) == 1 + 3 + 2 + 3 + 1  # a line per run
    again = Figures(figures.comparison, kept.from_csv(figures.comparison, content))
    assert table.tables(again) == table.tables(figures)
    assert table.scenarios(again).rows[1][2].text.startswith("85.0\u2020")  # B with 2: one of its runs is degraded


def test_what_drifted_is_kept_and_told(figures: Figures) -> None:
    runs = figures.measured.summaries["A", "two"]
    runs[1] = runs[1].model_copy(update={"unrest": "its queue rises, steeply"})
    content = kept.to_csv(figures.comparison, figures.measured)
    again = Figures(figures.comparison, kept.from_csv(figures.comparison, content))
    told = [note for note in notes(again, [], quick=False) if "Not at rest" in note]
    assert len(told) == 1
    assert told[0].endswith("1 of 3 runs: its queue rises, steeply")
    not_asked = content.replace('"its queue rises, steeply"', NOT_ASKED)
    assert kept.from_csv(figures.comparison, not_asked).restless("A", "two") == []


def test_what_is_unknown_is_empty(figures: Figures) -> None:
    runs = figures.measured.summaries["A", "two"]
    runs[1] = runs[1].model_copy(update={"su": math.nan})
    content = kept.to_csv(figures.comparison, figures.measured)
    assert content.splitlines()[1].split(",")[4:7] == ["clean", "", ""]
    assert math.isnan(kept.from_csv(figures.comparison, content).of("A", "two")[1].su)


def test_the_runs_of_another_comparison_are_refused(figures: Figures) -> None:
    with pytest.raises(BadInput, match="mine: expected runs with row, column, seed, engine, verdict, unrest, su"):
        kept.from_csv(figures.comparison, "row,column,seed,engine,verdict,unrest,fct_mean\n")
    content = kept.to_csv(figures.comparison, figures.measured).replace("B,eight", "B,nine")
    with pytest.raises(BadInput, match="mine has no row B with a column nine"):
        kept.from_csv(figures.comparison, content)
