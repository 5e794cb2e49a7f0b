"""Buffers where the file says none: 5 MB, and above 100 Gbit/s the same time."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.experiment.load import load, resolve


def buffers(*settings: str, name: str = "incast-8") -> Any:
    return {link.buffer for link in load(name).apply(settings).experiment.shape.links}


@pytest.mark.parametrize(
    ("rate", "megabytes"),
    [
        ("10 Gbit/s", 5),
        ("100 Gbit/s", 5),
        ("200 Gbit/s", 10),
        ("400 Gbit/s", 20),
        ("800 Gbit/s", 40),
        ("1.6 Tbit/s", 80),
    ],
)
def test_it_follows_the_rate_and_the_default_thresholds_fit(rate: str, megabytes: int) -> None:
    resolved = resolve(load("incast-8").apply([f"rack.link.rate={rate}"]))
    assert {link.buffer for link in resolved.experiment.shape.links} == {megabytes * 1e6}
    assert resolved.as_dict()["rack"]["switch"]["buffer"] == f"{megabytes} MB"


def test_the_fastest_link_decides_for_all_ports() -> None:
    assert buffers("rack.uplink.rate=200 Gbit/s", name="leaf-spine") == {10e6}
    assert buffers("rack.links=[{of: h3, rate: 400 Gbit/s}]") == {20e6}
    assert buffers("rack.links.0.rate=1.6 Tbit/s", name="two-speeds") == {80e6}


def test_what_is_said_holds() -> None:
    assert buffers("rack.link.rate=400 Gbit/s", "rack.switch.buffer=7 MB") == {7e6}
    assert buffers("rack.link.rate=400 Gbit/s", "rack.link.buffer=8 MB") == {8e6}
    assert buffers("rack.link.rate=400 Gbit/s", "rack.links=[{of: h3, buffer: 9 MB}]") == {9e6, 20e6}
