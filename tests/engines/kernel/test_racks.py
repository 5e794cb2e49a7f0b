"""Racks whose links differ, with real packets: calibrated, clean, and each flow with the RTT of its own path."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.results import folder as results
from tests.support.runs import UNDRAWN, Runs

pytestmark = [pytest.mark.root, pytest.mark.measures]


def test_round_trips_from_1_to_100_in_one_incast(runs: Runs) -> None:
    """Calibration measures the path of every sender; at a fortieth of the rate little waits."""
    slow = ("--controller", "fixed", "--set", "controller.rate=2.5 %", "--duration", "4 ms", *UNDRAWN)
    flows = results.load(runs.clean("rtt-mix", *slow).folder).tables["flows"].to_pydict()
    base = flows["base_rtt"]
    assert max(base) / min(base) == pytest.approx(100, rel=0.03)
    for rtt, least in zip(flows["rtt_mean"], base, strict=True):
        assert least <= rtt < least + 2e-6


def test_a_parking_lot_of_four_routers(runs: Runs) -> None:
    """Its links carry what HPCC holds, eta, and the flow that meets three of them the least."""
    summary = runs.clean("parking-lot", "--duration", "2.5 ms", "--dilation", "2000", *UNDRAWN).summary
    assert summary["su"] == pytest.approx(95, abs=2.5)
    assert summary["ql_p99"] < 5e-6


CHAIN = """
rack:
  kind: custom
  nodes: [h1, h2, h3, a, b, c, d, Chicago, f]
  links:
    - { ends: [h1, a] }
    - { ends: [h3, a] }
    - { ends: [a, b] }
    - { ends: [b, c] }
    - { ends: [c, d] }
    - { ends: [d, Chicago] }
    - { ends: [Chicago, f] }
    - { ends: [f, h2] }
traffic: { pattern: flows, flows: [{ src: h1, dst: h2 }, { src: h3, dst: h2 }] }
controller: swift
time: { duration: 2 ms }
"""


def test_a_chain_of_switches_with_names_of_their_own(runs: Runs, tmp_path: Path) -> None:
    """Six of them, which is more than INT has room for: calibration needs no more than the last one's."""
    (file := tmp_path / "chain.yaml").write_text(CHAIN)
    assert runs.clean(str(file), "--dilation", "3000", *UNDRAWN).summary["su"] > 99


HOST_LINKS = """
rack: { kind: star, hosts: 4, link: { rate: 25 Gbit/s } }
traffic: { pattern: flows, flows: [{ src: h1, dst: h4 }, { src: h2, dst: h4 }, { src: h4, dst: h3 }] }
controller: { name: fixed, rate: 30 % }
transport: { timeout: 50 us }
time: { duration: 1500 us, warmup: 0 s }
events:
  - { at: 300 us, set: { h4-s1.loss: 0.1 } }
  - { at: 600 us, set: { h4-s1.loss: 0 } }
  - { at: 900 us, down: h1-s1 }
  - { at: 1100 us, up: h1-s1 }
"""


def test_links_of_hosts_lose_packets_and_fail(runs: Runs, tmp_path: Path) -> None:
    (file := tmp_path / "hosts.yaml").write_text(HOST_LINKS)
    lost = results.load(runs.clean(str(file), *UNDRAWN).folder).tables["flows"]["lost_packets"].to_pylist()
    packets = 0.3 * 25e9 / 8 / 1078  # of each flow, per second
    assert all(0.5 < one / (packets * 300e-6 * (1 - 0.9**2)) < 1.7 for one in lost[1:])
    assert lost[0] > packets * 200e-6
