"""Packets of a flow over many paths, with real packets: what the programs make of them, and Linux' routes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.results import folder as results
from tests.support.known import options
from tests.support.runs import UNDRAWN, Runs

pytestmark = [pytest.mark.root, pytest.mark.measures]

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


def carried(runs: Runs, tmp_path: Path, *settings: str) -> tuple[int, int]:
    """Packets that each of leaf1's uplinks carried; none of the flows took one for lost."""
    (file := tmp_path / "pair.yaml").write_text(PAIR)
    done = results.load(runs.clean(str(file), *options(settings), *UNDRAWN).folder)
    flows, ports = (done.tables[name].to_pydict() for name in ("flows", "port_series"))
    assert not any(flows["lost_packets"] + flows["late_acks"])
    last = dict(zip(ports["port"], ports["tx_packets"], strict=True))
    return last["leaf1-eth3"], last["leaf1-eth4"]


@pytest.mark.parametrize("routing", ["random", "spray"])
def test_one_flow_uses_both_uplinks_alike(runs: Runs, tmp_path: Path, routing: str) -> None:
    """Its 5,000 packets are on both in any order."""
    first, second = carried(runs, tmp_path, f"routing={routing}")
    assert first + second > 4000
    assert abs(first - second) < 5 * np.sqrt(first + second)


def test_adaptive_routing_divides_by_what_the_ports_can_do(runs: Runs, tmp_path: Path) -> None:
    """35 Gbit/s fit into 25 and 12.5: halves would fill the slower port's queue, which sends packets elsewhere."""
    both = "traffic.flows=[{src: h1, dst: h3}, {src: h2, dst: h4}]"
    slower = "rack.links=[{of: leaf1-spine2, rate: 12.5 Gbit/s}]"
    first, second = carried(runs, tmp_path, "routing=adaptive", "controller.rate=70 %", both, slower)
    assert first + second > 9000
    assert 0.2 < second / (first + second) < 12.5 / 35 * 1.02


@pytest.mark.parametrize(("rate", "paths"), [("15 Gbit/s", 1), ("0.12 Gbit/s", 2)])
def test_a_flowlet_is_a_flow_that_has_paused(runs: Runs, tmp_path: Path, rate: str, paths: int) -> None:
    """A paced flow pauses for 0.6 us, and for 72 us, which 40 times in a row will not all give the same path."""
    short = ["time.duration=1 ms", "time.warmup=0.3 ms"] if paths == 1 else []  # 1,700 pauses are enough
    found = carried(runs, tmp_path, "routing={name: flowlet, gap: 50 us}", f"controller.rate={rate}", *short)
    assert sum(count > 3 for count in found) == paths
