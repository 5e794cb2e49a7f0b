"""A bonded host with real packets: agents send by its other NIC when one fails, and by both again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.support.outside import run, summary_in
from tests.support.runs import UNCALIBRATED, UNDRAWN

pytestmark = [pytest.mark.root, pytest.mark.parallel, pytest.mark.measures]

RACK = """\
rack:
  kind: custom
  nodes: [{name: a, bond: true}, {name: b, bond: true}, s1, s2]
  links: [{ends: [a, s1]}, {ends: [a, s2]}, {ends: [b, s1]}, {ends: [b, s2]}, {ends: [s1, s2]}]
traffic: {pattern: incast, senders: 1, flows_per_sender: 8}
controller: swift
transport: {timeout: 50 us}
time: {duration: 300 us, warmup: 0, dilation: 6000}
record: {interval: 20 us}
seed: 2
events: [{at: 100 us, down: h1-s1, detected_after: 10 us}, {at: 200 us, up: all}]
"""
TO_B = ("s1-eth2", "s2-eth2")


def test_flows_take_the_other_nic_and_come_back(tmp_path: Path) -> None:
    (file := tmp_path / "bond.yaml").write_text(RACK)
    done = run(tmp_path, "run", str(file), *UNCALIBRATED, *UNDRAWN)
    assert done.returncode in {0, 3}, done.stderr
    reasons = {reason["what"] for reason in summary_in(tmp_path)["verdict"]["reasons"]}
    assert not [what for what in reasons if "packets" in what], reasons
    series = pq.read_table(tmp_path / "out" / "port_series.parquet").to_pandas()
    sent = series.pivot(index="time", columns="port", values="tx_packets")[[*TO_B]]
    events = 100e-6, 150e-6, 200e-6, sent.index[-1]
    before, down, up, end = (sent.loc[: time + 1e-9].iloc[-1].to_numpy() for time in events)
    assert (before > 0).all()
    assert np.diff([down, up], axis=0)[0, 1] > 0
    assert np.diff([down, up], axis=0)[0, 0] == 0
    assert (np.diff([up, end], axis=0)[0] > 0).all()
