"""What the registry says of the figures of a summary."""

from __future__ import annotations

import math

import pytest

from testbed.results.summary import COMPARED, FIGURES, Summary


def test_every_field_but_the_names_is_a_figure() -> None:
    assert set(Summary.model_fields) - set(FIGURES) == {"experiment", "controller", "tuner", "verdict"}
    assert [name for name, one in FIGURES.items() if one.name != name or not one.description] == []


def test_what_is_compared_has_a_label_of_its_own() -> None:
    labels = [one.label for one in COMPARED.values()]
    assert all(labels)
    assert len(set(labels)) == len(labels)
    assert {one.same_as for one in COMPARED.values()} - {""} <= set(COMPARED)


@pytest.mark.parametrize(
    ("name", "value", "text", "number"),
    [
        ("su", 95.0, "95.00 %", "95.00"), ("ql_mean", 4.04e-6, "4.04 us", "4.040"), ("ql_mean", 0.0, "0.00 us", "0"),
        ("ql_max", 1.23456e-3, "1.235 ms", "1,235"), ("decision_per_row", 5e-8, "50 ns", "0.05000"),
        ("goodput", 9.5e10, "95 Gbit/s", "95.00"), ("queue_mean", 5e4, "50 kB", "50.00"),
        ("drops", 12345.0, "12,345", "12,345"), ("loss", 0.0012, "0.001200 %", "0.001200"),
        ("marked", 1e-9, "< 0.000001 %", "< 0.000001"), ("fct_mean", math.nan, "-", "-"),
    ],
)  # fmt: skip
def test_values_read_well(name: str, value: float, text: str, number: str) -> None:
    assert (FIGURES[name].text(value), FIGURES[name].number(value)) == (text, number)
