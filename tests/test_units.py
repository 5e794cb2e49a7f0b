from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.units import (
    RATE_UNITS,
    RATIO_UNITS,
    SIZE_UNITS,
    TIME_UNITS,
    exactly,
    parse,
    show,
    show_rate,
    show_ratio,
    show_size,
    show_time,
)


@pytest.mark.parametrize(
    ("text", "units", "value"),
    [
        ("100 Gbit/s", RATE_UNITS, 100e9),
        ("100Gbps", RATE_UNITS, 100e9),
        ("2.5 Tbit/s", RATE_UNITS, 2.5e12),
        ("8 us", TIME_UNITS, 8e-6),
        ("8µs", TIME_UNITS, 8e-6),
        ("1.5 min", TIME_UNITS, 90.0),
        ("5 MB", SIZE_UNITS, 5e6),
        ("5 MiB", SIZE_UNITS, 5 * 2**20),
        ("1000 bytes", SIZE_UNITS, 1000.0),
        ("20 %", RATIO_UNITS, 0.2),
        ("0.2", RATIO_UNITS, 0.2),
        (0, TIME_UNITS, 0.0),
        ("0", SIZE_UNITS, 0.0),
        ("1e3 us", TIME_UNITS, 1e-3),
        (".5 us", TIME_UNITS, 0.5e-6),
    ],
)
def test_parse(text: object, units: dict[str, float], value: float) -> None:
    assert parse(text, units, "a quantity") == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "units", "says"),
    [
        ("100", RATE_UNITS, "has no unit"),
        (100, RATE_UNITS, "write for example '100 Gbit/s'"),
        ("100 GB/s", RATE_UNITS, "unknown unit 'GB/s'"),  # bytes or bits? nobody knows
        ("8 parsec", TIME_UNITS, "allowed: ns, us, ms, s"),
        ("eight us", TIME_UNITS, "is not a quantity"),
        ("", TIME_UNITS, "is not a quantity"),
        (True, TIME_UNITS, "got True"),
        (None, TIME_UNITS, "is not a quantity"),
    ],
)
def test_refuse(text: object, units: dict[str, float], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        parse(text, units, "a quantity")


@pytest.mark.parametrize("units", [RATE_UNITS, TIME_UNITS, SIZE_UNITS], ids=["rate", "time", "size"])
@given(value=st.floats(min_value=1e-12, max_value=1e15))
def test_what_is_shown_can_be_read_back(units: dict[str, float], value: float) -> None:
    assert parse(show(value, units), units, "a quantity") == pytest.approx(value, rel=1e-5)


@given(value=st.floats(allow_nan=False, allow_infinity=False), unit=st.sampled_from(sorted(RATE_UNITS)))
def test_every_number_and_unit_is_read(value: float, unit: str) -> None:
    assert parse(f"{value!r} {unit}", RATE_UNITS, "a rate") == pytest.approx(value * RATE_UNITS[unit], rel=1e-15)


def test_a_quantity_is_the_number_that_python_reads() -> None:
    """Both are the nearest to what is written; 55 * 1e-6 is not."""
    assert parse("55 us", TIME_UNITS, "a time") == 55e-6 != 55 * 1e-6


@pytest.mark.parametrize(
    "units", [RATE_UNITS, TIME_UNITS, SIZE_UNITS, RATIO_UNITS], ids=["rate", "time", "size", "ratio"]
)
@given(value=st.floats(min_value=1e-12, max_value=1e15))
def test_what_is_written_to_a_file_is_read_back_exactly(units: dict[str, float], value: float) -> None:
    assert parse(exactly(value, units), units, "a quantity") == value


@given(st.text(max_size=12))
def test_no_text_crashes_the_parser(text: str) -> None:
    try:
        value = parse(text, TIME_UNITS, "a time")
    except ValueError:
        return
    assert not math.isnan(value)


def test_shown_as_people_write_it() -> None:
    assert show_rate(100e9) == "100 Gbit/s"
    assert show_time(8e-6) == "8 us"
    assert show_size(5e6) == "5 MB"
    assert show_ratio(0.2) == "0.2"
    assert show_time(90.0) == "90 s"
