"""Numbers at an axis differ from each other, whatever it reaches from and to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.results.report.ticks import ticks


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 100, ["0", "20", "40", "60", "80", "100"]),
        (0.9999991, 1.0000003, ["0.9999992", "0.9999994", "0.9999996", "0.9999998", "1.0000000", "1.0000002"]),
        (0, 0.06, ["0", "0.01", "0.02", "0.03", "0.04", "0.05", "0.06"]),
    ],
)  # fmt: skip
def test_round_numbers_with_as_many_digits_as_they_need(low: float, high: float, expected: list[str]) -> None:
    assert list(ticks(low, high, 6)) == expected


@given(low=st.floats(-1e6, 1e6), reach=st.floats(1e-6, 1e9))
def test_all_texts_differ_and_say_their_place(low: float, reach: float) -> None:
    found = ticks(low, low + reach, 6)
    assert 2 <= len(found) <= 14
    for text, place in found.items():
        assert float(text) == pytest.approx(place, abs=1e-3 * reach)
