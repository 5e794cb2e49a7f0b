"""The fluid model beside the closed forms of tests/support/theory.py and ADPG's oracle, and beside the virtual engine.

Each test says what its bound is made of. Run with -s to see the figures of docs/explanation/adpg.md.
"""

from __future__ import annotations

import math

import pytest

from testbed.fidelity.verdict import judge
from testbed.results.summary import Summary, summarise
from tests.support import theory
from tests.support.modelled import figures
from tests.support.simulated import simulated

DCQCN = ("controller.g=0.015625", "controller.initial_alpha=0.15", "controller.window=bdp")


def at_rest(controller: str, flows: int, *settings: str, probes: int = 8) -> Summary:
    """An incast of the default rack in the model, under thresholds of SECN1."""
    options = [f"traffic.senders={flows}", "tuner.preset=secn1", f"fluid.probes={probes}", *settings]
    found = figures("incast-8", options, controller=controller)
    print(
        f"{controller}, {flows} flows, {probes} probes: SU {found.su:.2f} %, QL {found.ql_mean * 1e6:.2f} us, "
        f"marked {found.marked:.3f} %, Jain {found.jain_flows:.3f}, FR {found.fr_flows:.1f} %"
    )
    return found


@pytest.mark.parametrize("allowed", [100, 16])
def test_hpcc_utilisation_is_eta_and_what_additive_increase_adds(allowed: int) -> None:
    """U is utilisation plus min(queue) / BDP, as in the rack's test.

    INT of two probes is apart by an eighth of an RTT: in it the model's steps, a sixteenth, are coarse, which adds
    queue: under a twentieth of a base RTT. Half a percent is for the ends of the window.
    """
    found = at_rest("hpcc", 8, f"controller.flows={allowed}", "time.duration=3 ms")
    limit, rtt = theory.hpcc_utilisation(8, allowed), theory.base_rtt(theory.INT_WIRE)
    assert limit - found.ql_mean / rtt - 0.005 <= found.su / 100 <= limit + 0.005
    assert found.ql_mean < rtt / 20
    assert found.drops_in_run == 0


@pytest.mark.parametrize("flows", [2, 8, 32, 64])
def test_swift_queue_follows_the_target_with_flow_scaling(flows: int) -> None:
    """Feedback is one in an eighth of an RTT at most: the queue may swing as in the rack, around the fluid's."""
    found = at_rest("swift", flows, "time.duration=3 ms", "time.warmup=1.5 ms")
    above = theory.base_rtt(theory.WIRE) + found.ql_mean - theory.swift_rtt(flows)
    assert abs(above) <= theory.swift_swing(flows) / 2 + 0.02 * theory.swift_rtt(flows)
    assert found.su > 99
    assert found.jain_flows > 0.95


@pytest.mark.parametrize("flows", [4, 8])
def test_dcqcn_queue_and_marks_stand_at_the_fixed_point(flows: int) -> None:
    """What the closed form leaves out is a tenth, and marks are few: 2.5 sigma of their number, as in the rack."""
    found = at_rest("dcqcn", flows, *DCQCN, "time.duration=20 ms", "time.warmup=8 ms")
    expected = theory.dcqcn_renewal(flows)
    marks = expected * 12e-3 * theory.LINE / (8 * theory.WIRE)
    tolerance = 0.1 + 2.5 / marks**0.5
    assert found.marked / 100 == pytest.approx(expected, rel=tolerance)
    assert found.ql_mean == pytest.approx(theory.dcqcn_queue(expected), rel=tolerance)
    assert found.su > 99


@pytest.mark.parametrize("flows", [2, 8, 64])
@pytest.mark.parametrize(("probes", "window"), [(1, "none"), (8, "bdp")])
def test_adpg_queue_stands_at_the_oracle(flows: int, probes: int, window: str) -> None:
    """T_ref (beta - 1 + target sqrt(N)), facts sheet 4.4; the trees are within 5 % of it up to 64 flows.

    It hears one RTT per RTT. A window needs more probes: with one, what was sent in two RTTs counts as in flight.
    """
    start = "controller.start_rate=10 %" if flows < 64 else "controller.start_rate=1 %"
    settings = (f"controller.window={window}", start, "time.duration=8 ms", "time.warmup=5 ms")
    found = at_rest("adpg", flows, *settings, probes=probes)
    assert found.ql_mean == pytest.approx(8.192e-6 * (0.5 + 0.064 * math.sqrt(flows)), rel=0.05)
    assert found.su > 99
    assert found.fr_flows > 90


@pytest.mark.parametrize("controller", ["hpcc", "swift"])
def test_the_same_as_with_packets(controller: str) -> None:
    """The virtual engine has packets, windows of whole packets, and an acknowledgement for each.

    Utilisation within 1.5 %. Queues: half of what the closed forms' tests allow the packets of 8 flows, which a fluid
    does not have (a packet per flow of swing; a queue of periodic sources), that is 0.35 us; and 2 %.
    """
    settings = ("time.duration=3 ms", "time.warmup=1.5 ms")
    found = at_rest(controller, 8, *settings)
    record = simulated("incast-8", ["tuner.preset=secn1", *settings], controller=controller)
    packets = summarise(record, judge(record), experiment="incast-8", controller=controller)
    print(f"{controller}, virtual: SU {packets.su:.2f} %, QL {packets.ql_mean * 1e6:.2f} us")
    assert found.su == pytest.approx(packets.su, abs=1.5)
    assert found.ql_mean == pytest.approx(packets.ql_mean, rel=0.02, abs=0.35e-6)
