"""The virtual engine beside the closed forms of tests/support/theory.py, with tolerances of the algorithms alone.

Nothing is late here: what the rack's tests allow for agents, shapers and calibration is not allowed.
"""

from __future__ import annotations

import math

import pytest

from testbed.fidelity.verdict import judge
from testbed.results.summary import Summary, summarise
from tests.support import theory
from tests.support.simulated import simulated

DCQCN = ("controller.g=0.015625", "controller.initial_alpha=0.15")


def at_rest(controller: str, flows: int, *settings: str) -> Summary:
    """An incast of the default rack under thresholds of SECN1; no name is the file's DCQCN, with a window of a BDP."""
    options = [f"traffic.senders={flows}", "tuner.preset=secn1", *settings]
    record = simulated("incast-8", options, controller=controller)
    found = summarise(record, judge(record), experiment="incast-8", controller=controller)
    print(f"{controller}, {flows}: SU {found.su:.2f} %, QL {found.ql_mean * 1e6:.2f} us, marked {found.marked:.3f} %")
    return found


@pytest.mark.parametrize("allowed", [100, 16])
def test_hpcc_utilisation_is_eta_and_what_additive_increase_adds(allowed: int) -> None:
    """U is utilisation plus min(queue) / BDP (HPCC 3.2), and min(queue) lies between 0 and the mean."""
    found = at_rest("hpcc", 8, f"controller.flows={allowed}", "time.duration=3 ms")
    limit, load = theory.hpcc_utilisation(8, allowed), found.su / 100
    assert limit - found.ql_mean / theory.base_rtt(theory.INT_WIRE) <= load <= limit
    assert found.ql_mean <= theory.periodic_queue(8, load) * theory.INT_WIRE * 8 / theory.LINE
    assert found.drops_in_run == 0


@pytest.mark.parametrize("allowed", [2, 1])
def test_hpcc_queue_is_what_too_much_additive_increase_asks_for(allowed: int) -> None:
    """That is min(queue); the mean is above it by at most what packets make that do not arrive evenly."""
    found = at_rest("hpcc", 8, f"controller.flows={allowed}", "time.duration=3 ms")
    asked = (theory.hpcc_full(8, allowed) - 1) * theory.base_rtt(theory.INT_WIRE)
    uneven = theory.periodic_queue(8, 1.0) * theory.INT_WIRE * 8 / theory.LINE
    assert asked <= found.ql_mean <= asked + uneven
    assert found.su == pytest.approx(100, abs=1e-6)


@pytest.mark.parametrize("flows", [2, 8, 32, 64])
def test_swift_queue_follows_the_target_with_flow_scaling(flows: int) -> None:
    """Between the target and the top of the swing: a cut takes off 80 % of what is above, so it stays above."""
    found = at_rest("swift", flows, "time.duration=3 ms", "time.warmup=1.5 ms")
    above = theory.base_rtt(theory.WIRE) + found.ql_mean - theory.swift_rtt(flows)
    assert 0 <= above <= theory.swift_swing(flows)
    assert found.su == pytest.approx(100, abs=1e-6)
    assert found.jain_flows > 0.99


@pytest.mark.parametrize("flows", [4, 8])
def test_dcqcn_queue_and_marks_stand_at_the_fixed_point(flows: int) -> None:
    """What the closed form leaves out is a tenth, and marks are few: 2.5 sigma of their number, as in the rack."""
    found = at_rest("", flows, *DCQCN, "time.duration=20 ms", "time.warmup=8 ms")
    expected = theory.dcqcn_renewal(flows)
    tolerance = 0.1 + 2.5 / (expected * 12e-3 * theory.LINE / (8 * theory.WIRE)) ** 0.5
    assert found.marked / 100 == pytest.approx(expected, rel=tolerance)
    assert found.ql_mean == pytest.approx(theory.dcqcn_queue(expected), rel=tolerance)
    assert found.su > 99


@pytest.mark.parametrize("flows", [2, 8, 64])
def test_adpg_queue_stands_at_the_oracle(flows: int) -> None:
    """T_ref (beta - 1 + target sqrt(N)), facts sheet 4.4; the trees are within 5 % of it up to 64 flows."""
    start = "controller.start_rate=10 %" if flows < 64 else "controller.start_rate=1 %"
    found = at_rest("adpg", flows, start, "time.duration=8 ms", "time.warmup=5 ms")
    assert found.ql_mean == pytest.approx(8.192e-6 * (0.5 + 0.064 * math.sqrt(flows)), rel=0.05)
    assert found.fr_flows > 90
