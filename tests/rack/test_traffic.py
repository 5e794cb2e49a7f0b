"""Flows that start, end and wait for each other in the rack."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.report.folder import read_table
from tests.rack.runs import run_clean

pytestmark = pytest.mark.root

RATE, WIRE, PAYLOAD = 25e9, 1080, 1000  # bit/s of a flow, bytes of a packet without INT
BASE_RTT = 8.185e-6

EXCHANGES = """
rack: {calibrate: off}
traffic: {pattern: osu-all-to-all, hosts: 4, sizes: [64 kB], iterations: 3}
controller: {name: fixed, rate: 25 Gbit/s}
time: {duration: 0.12 ms, warmup: 0, dilation: 8000}
record: {interval: 2 us}
"""
MANY = """
rack: {calibrate: off}
traffic: {pattern: all-to-all, hosts: 8, flows_per_pair: 36, size: 3500 B, stagger: 0.5 us}
controller: {name: fixed, rate: 25 Gbit/s}
time: {duration: 1.1 ms, warmup: 0, dilation: 2500}
"""


def flows_of(text: str, folder: Path) -> dict[str, np.ndarray]:
    """The flow table of a clean run."""
    file = folder / "experiment.yaml"
    file.write_text(text)
    dilation = text.partition("dilation: ")[2].partition("}")[0]
    run_clean(folder, str(file), "--dilation", dilation)
    return {
        name: np.array(values) for name, values in read_table(folder / "clean" / "flows.parquet").to_pydict().items()
    }


def test_an_exchange_begins_when_the_last_one_has_ended_everywhere(tmp_path: Path) -> None:
    flows = flows_of(EXCHANGES, tmp_path)
    assert np.isfinite(flows["finished"]).all()
    for group in (1, 2):
        before, now = flows["group"] == group - 1, flows["group"] == group
        assert now.sum() == 12
        wait = flows["start"][now] - flows["finished"][before].max()
        assert (wait >= 0).all()
        assert (wait <= 2 * BASE_RTT).all()  # a look every quarter of it
    # The first packet leaves at once, the last one 63 gaps later, and its acknowledgement is an RTT away. Three flows
    # of a host take turns, and three meet at each port: two packets may be ahead.
    fct = flows["finished"] - flows["start"]
    ideal = 63 * WIRE * 8 / RATE + BASE_RTT
    assert fct.mean() == pytest.approx(ideal, rel=0.05)


def test_thousands_of_short_flows_end(tmp_path: Path) -> None:
    flows = flows_of(MANY, tmp_path)
    assert len(flows["start"]) == 2016
    assert np.isfinite(flows["finished"]).all()
    assert (flows["lost_packets"] == 0).all()
    assert (flows["delivered_packets"] == 4).all()
    fct = flows["finished"] - flows["start"]
    ideal = 3 * WIRE * 8 / RATE + BASE_RTT - (WIRE - 580) * 8 / 100e9 * 2  # the last packet is half as large
    assert fct.min() >= 0.97 * ideal
    assert np.median(fct) < 1.5 * ideal
