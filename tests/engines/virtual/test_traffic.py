"""Flows that start, end and wait for each other; one run for all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.results.folder import read_table
from tests.support.runs import VIRTUAL, run

RATE, WIRE, ACK = 25e9, 1080, 78  # bit/s of a flow, bytes of a packet without INT and of what acknowledges it
BASE_RTT = 8.185e-6

EXPERIMENT = """
traffic:
  pattern: phases
  parts:
    - start: 0
      traffic: {pattern: osu-all-to-all, hosts: 4, sizes: [64 kB], iterations: 3}
    - start: 0.15 ms
      traffic: {pattern: all-to-all, hosts: 8, flows_per_pair: 36, size: 3500 B, stagger: 0.5 us}
controller: {name: fixed, rate: 25 Gbit/s}
time: {duration: 1.25 ms, warmup: 0}
"""


def test_exchanges_wait_for_each_other_and_thousands_of_short_flows_end(tmp_path: Path) -> None:
    file = tmp_path / "experiment.yaml"
    file.write_text(EXPERIMENT)
    run(tmp_path / "out", str(file), *VIRTUAL)
    table = read_table(tmp_path / "out" / "flows.parquet").to_pydict()
    flows = {name: np.array(values) for name, values in table.items()}
    assert np.isfinite(flows["finished"]).all()
    assert (flows["lost_packets"] == 0).all()
    fct = flows["finished"] - flows["start"]

    for group in (1, 2):
        before, now = flows["group"] == group - 1, flows["group"] == group
        assert now.sum() == 12
        # All start when the last message was received; its acknowledgement takes so long.
        back = 4e-6 + 2 * ACK * 8 / 100e9
        assert flows["start"][now] == pytest.approx(flows["finished"][before].max() - back, abs=ACK * 8 / 100e9)
    # The first packet leaves at once, the last one 63 gaps later, and its acknowledgement is an RTT away.
    exchange = 63 * WIRE * 8 / RATE + BASE_RTT
    assert np.median(fct[flows["group"] >= 0]) == pytest.approx(exchange, rel=0.03)

    short = flows["group"] < 0
    assert short.sum() == 2016
    assert (flows["delivered_packets"][short] == 4).all()
    ideal = 3 * WIRE * 8 / RATE + BASE_RTT - 2 * 500 * 8 / 100e9  # the last packet is half as large
    assert fct[short].min() >= 0.97 * ideal
    assert np.median(fct[short]) < 1.5 * ideal
