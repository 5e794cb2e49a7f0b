"""Packets of a flow over many paths, with real packets: what the programs make of them, and Linux' routes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.results import folder as results
from tests.support.runs import UNDRAWN, Runs

pytestmark = pytest.mark.root

PAIR = """
rack:
  kind: leaf-spine
  leaves: 2
  spines: 2
  hosts_per_leaf: 2
  link: { rate: 25 Gbit/s, delay: 1 us }
  uplink: { rate: 25 Gbit/s, delay: 1 us }
traffic: { pattern: flows, flows: [{ src: h1, dst: h3 }] }
controller: { name: fixed, rate: 60 % }
time: { duration: 3 ms, warmup: 1 ms }
"""


@pytest.mark.parametrize("routing", ["random", "spray"])
def test_one_flow_uses_both_uplinks_alike(runs: Runs, tmp_path: Path, routing: str) -> None:
    """Its 5,000 packets are on both in any order, and none is taken for lost."""
    (file := tmp_path / "pair.yaml").write_text(PAIR)
    done = results.load(runs.clean(str(file), "--set", f"routing={routing}", *UNDRAWN).folder)
    flows, ports = (done.tables[name].to_pydict() for name in ("flows", "port_series"))
    assert flows["lost_packets"] == flows["late_acks"] == [0]
    last = dict(zip(ports["port"], ports["tx_packets"], strict=True))
    first, second = last["leaf1-eth3"], last["leaf1-eth4"]
    assert first + second > 4000
    assert abs(first - second) < 5 * np.sqrt(first + second)
