"""Three tiers on the virtual engine: a permutation through all of them, and who carries it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from testbed.results.record import RunRecord
from tests.support.simulated import measured, simulated

# Every host sends to its like in the pod halfway round: all packets cross the core.
ACROSS = """
rack: { kind: clos, k: 4, link: { delay: 1 us } }
traffic: { pattern: permutation, hosts: 16, stride: 8, payload: 4096 B }
controller: { name: dcqcn }
time: { duration: 1 ms, warmup: 400 us }
"""


def carried(record: RunRecord) -> np.ndarray:
    """Bytes that left each port of the aggregation switches; acknowledgements are a fiftieth."""
    ports = [place for place, name in enumerate(record.ports) if name.startswith("agg")]
    return record.port_series.tx_bytes[-1, ports]


@pytest.mark.parametrize("routing", ["reps", "adaptive", "spray"])
def test_a_permutation_fills_a_tree_that_does_not_block(routing: str) -> None:
    found = measured(ACROSS, [f"routing={routing}"], controller="dcqcn")
    assert found.su_receivers >= 97
    assert found.jain_flows >= 0.99
    assert found.drops_in_run == 0


def test_sprayed_packets_use_all_cores_alike() -> None:
    """A choice of the second switch that followed from the first's would leave half of the cores idle."""
    record = simulated(ACROSS, ["routing=spray", "controller.rate=50 %"], controller="fixed")
    cores = carried(record)
    up = cores.reshape(8, 4)[:, 2:]  # two links down, two up
    assert up == pytest.approx(np.full(up.shape, up.mean()), rel=0.1)


def test_int_tells_of_five_switches() -> None:
    """HPCC holds eta of every link of a path that nobody else is on."""
    lone = ACROSS.replace("permutation, hosts: 16, stride: 8,", "flows, flows: [{ src: h1, dst: h16 }],")
    record = simulated(lone, controller="hpcc")
    assert record.flows.hops.tolist() == [5]
    assert measured(lone, controller="hpcc").su == pytest.approx(95, abs=1)


def test_int_tells_of_eight_switches() -> None:
    """As many as a packet has room for: HPCC holds eta of a row of them."""
    nodes = ["h1", *(f"s{n}" for n in range(1, 9)), "h2"]
    links = ", ".join(f"{{ ends: [{one}, {other}] }}" for one, other in pairwise(nodes))
    row = f"""
rack: {{ kind: custom, nodes: [{", ".join(nodes)}], links: [{links}] }}
traffic: {{ pattern: flows, flows: [{{ src: h1, dst: h2 }}] }}
controller: {{ name: hpcc }}
time: {{ duration: 1 ms, warmup: 400 us }}
"""
    assert simulated(row, controller="hpcc").flows.hops.tolist() == [8]
    assert measured(row, controller="hpcc").su == pytest.approx(95, abs=1)
