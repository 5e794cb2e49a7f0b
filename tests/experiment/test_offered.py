"""What traffic asks of a rack, by hand."""

from __future__ import annotations

import math

import pytest

from testbed.experiment.load import load
from testbed.experiment.offered import Offered


def offered(name: str, *settings: str) -> Offered:
    return Offered.of(load(name).apply(settings).experiment)


def test_endless_flows_have_no_size() -> None:
    found = offered("incast-8")
    assert (found.flows, found.endless, found.bytes) == (8, 8, 0.0)
    assert math.isnan(found.mean_size)
    assert found.as_dict()["mean_size"] is None
    assert str(found).startswith("8 flows; all endless")


def test_load_is_of_what_all_hosts_could_send() -> None:
    found = offered("incast-8", "traffic.size=1 MB", "time.duration=10 ms")
    assert found.bytes == 8e6
    assert found.load == pytest.approx(8e6 * 8 / (9 * 100e9 * 10e-3))
    assert "8 MB in flows of 1 MB on average, 0.7% of" in str(found)


def test_where_flows_wait_for_others_no_load_is_told() -> None:
    found = offered("osu-all-to-all")
    assert 0 < found.waiting < found.flows
    assert "time.duration" not in str(found)
