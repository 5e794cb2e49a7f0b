"""A threshold in words, and on ports."""

from __future__ import annotations

import numpy as np
import pytest
from testbed_plugins.threshold import Threshold


@pytest.mark.parametrize(
    ("text", "size", "rate"), [("65 kB", 65e3, 0.0), ("20.5 kB at 100 Gbit/s", 20.5e3, 100e9), ("0 B", 0.0, 0.0)]
)
def test_it_is_read_as_it_is_written(text: str, size: float, rate: float) -> None:
    assert Threshold.read(text) == Threshold(size, rate)
    assert str(Threshold(size, rate)) == text
    assert Threshold.read(0) == Threshold(0.0)


def test_it_scales_only_if_it_is_of_a_rate() -> None:
    rates = np.array([25e9, 100e9])
    assert Threshold(65e3).on(rates).tolist() == [65e3, 65e3]
    assert Threshold(65e3, 25e9).on(rates).tolist() == [65e3, 260e3]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("65", "no unit for a size"),
        (65, "65 has no unit"),
        ("65 kB at 25", "no unit for a rate"),
        ("65 kB at 0 Gbit/s", "expected a size of at least 0 B, such as '65 kB' or '400 kB at 25 Gbit/s'"),
        ("-65 kB", "expected a size of at least 0 B"),
    ],
)
def test_what_is_none_is_refused(text: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Threshold.read(text)
