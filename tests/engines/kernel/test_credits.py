"""Receivers that grant what is sent to them, with real packets."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.results import folder as results
from tests.support.runs import UNDRAWN, Runs

pytestmark = [pytest.mark.root, pytest.mark.measures]

INCAST = """
rack: { kind: star, hosts: 9, link: { rate: 25 Gbit/s, delay: 2 us } }
traffic: { pattern: incast, senders: 8 }
controller: fixed
receiver: { name: eqds, preset: requests }
time: { duration: 3 ms, warmup: 1 ms, dilation: 1500 }
"""
LEAVES = """
rack:
  kind: leaf-spine
  leaves: 2
  spines: 2
  hosts_per_leaf: 2
  link: { rate: 25 Gbit/s, delay: 1 us }
  uplink: { rate: 25 Gbit/s, delay: 1 us }
routing: spray
traffic: { pattern: permutation, hosts: 4, stride: 2, payload: 4096 B, size: 1 MB }
controller: nscc
receiver: rccc
time: { duration: 3 ms, warmup: 0 s }
"""


def test_an_incast_is_granted_99_percent_of_the_line(runs: Runs, tmp_path: Path) -> None:
    """Real packets come late at times, hence a short queue."""
    (file := tmp_path / "incast.yaml").write_text(INCAST)
    found = runs.clean(str(file), *UNDRAWN).summary
    assert 97 < found["su"] < 99.5
    assert found["queue_mean"] < 10 * 1078
    assert found["drops"] == 0


def test_flows_over_many_paths_finish(runs: Runs, tmp_path: Path) -> None:
    (file := tmp_path / "leaves.yaml").write_text(LEAVES)
    flows = results.load(runs.clean(str(file), *UNDRAWN).folder).tables["flows"].to_pydict()
    assert all(flows["finished"])
    assert max(flows["finished"]) < 1.6e-3  # 1 MB takes 0.32 ms alone, and half of a full rack's ports
