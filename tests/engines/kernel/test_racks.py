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
    summary = runs.clean("parking-lot", "--duration", "5 ms", *UNDRAWN).summary
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
