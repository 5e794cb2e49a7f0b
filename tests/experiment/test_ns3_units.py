"""Quantities of ns-3."""

from __future__ import annotations

import math

import pytest

from testbed.experiment.ns3_units import rate, seconds


@pytest.mark.parametrize(
    ("text", "bits"), [("100Gbps", 100e9), ("50Mb/s", 50e6), ("25000000000.0", 25e9), ("1e9", 1e9), ("400Kbps", 400e3)]
)
def test_rates(text: str, bits: float) -> None:
    assert rate(text) == bits


@pytest.mark.parametrize(("text", "time"), [("0.001ms", 1e-6), ("1us", 1e-6), ("1000ns", 1e-6), ("2.5", 2.5)])
def test_times(text: str, time: float) -> None:
    assert seconds(text) == pytest.approx(time, rel=1e-12)


@pytest.mark.parametrize("text", ["", "fast", "-1us", "1 us", "1.2.3Gbps", "1GBps"])
def test_what_is_none(text: str) -> None:
    assert math.isnan(rate(text))
    assert math.isnan(seconds(text))
