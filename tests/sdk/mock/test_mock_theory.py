"""The mock, the algorithms without a network, beside the closed forms of tests/engines/kernel/test_theory.py.

Run with -s to see the figures of docs/fidelity.md.
"""

from __future__ import annotations

import pytest

from controllers.dcqcn import Dcqcn, DcqcnConfig
from controllers.hpcc import Hpcc, HpccConfig
from controllers.swift import Swift, SwiftConfig
from testbed.controller import ControllerBase
from testbed.plugin import PluginConfig
from testbed.sdk.mock.datapath import Mock
from testbed.sdk.mock.scenario import Scenario
from tests.support import theory

SECN1 = (theory.KMIN, theory.KMAX, theory.PMAX)


def at_rest(
    form: type[ControllerBase], config: PluginConfig, flows: int, span: tuple[float, float], wire: int = theory.WIRE
) -> tuple[float, float, float]:
    """Load, mean queue (s) and share of marks in a span of the incast of the default rack.

    Flows start one after the other within a base RTT. All at one instant would keep them in step for good, which
    nothing but a mock does: Swift's 64 flows then have a queue of 15 us instead of 11.
    """
    rtt = theory.base_rtt(wire)
    scenario = Scenario(
        flows=flows, duration=span[1], start_gap=rtt / flows, line_rate=theory.LINE, base_rtt=rtt, buffer=5e6,
        red=SECN1, wire_size=wire, poll=rtt / 32,
    )  # fmt: skip
    trace = Mock(form, config, scenario).run()
    grown = {name: float(trace.growth(name, span[0])) for name in ("delivered", "area", "marked")}
    load, queue = grown["delivered"] * 8 / theory.LINE, grown["area"] * 8 / theory.LINE
    marked = grown["marked"] * wire / grown["delivered"]
    print(f"{form.name}, {flows} flows: load {load:.2%}, queue {queue * 1e6:.2f} us, marked {marked:.3%}")
    return load, queue, marked


@pytest.mark.parametrize("allowed", [100, 16])
def test_hpcc_utilisation(allowed: int) -> None:
    load, queue, _ = at_rest(Hpcc, HpccConfig(flows=allowed), 8, (0.4e-3, 1e-3), theory.INT_WIRE)
    limit = theory.hpcc_utilisation(8, allowed)
    assert limit - queue / theory.base_rtt(theory.INT_WIRE) - 0.005 <= load <= limit + 0.005
    assert queue <= theory.periodic_queue(8, load) * theory.INT_WIRE * 8 / theory.LINE


@pytest.mark.parametrize("allowed", [2, 1])
def test_hpcc_queue_of_a_full_link(allowed: int) -> None:
    _, queue, _ = at_rest(Hpcc, HpccConfig(flows=allowed), 8, (0.4e-3, 1e-3), theory.INT_WIRE)
    # The mock looks at feedback 1/32 RTT late at most; packets in whole windows do not arrive quite evenly.
    assert queue / theory.base_rtt(theory.INT_WIRE) == pytest.approx(theory.hpcc_full(8, allowed) - 1, abs=1 / 32)


@pytest.mark.parametrize("flows", [2, 8, 32, 64])
def test_swift_queue(flows: int) -> None:
    _, queue, _ = at_rest(Swift, SwiftConfig(), flows, (1.5e-3, 3e-3))
    above = theory.base_rtt(theory.WIRE) + queue - theory.swift_rtt(flows)
    assert 0 <= above <= theory.swift_swing(flows) / 2


@pytest.mark.slow
def test_dcqcn_fixed_point() -> None:
    flows = 8
    config = DcqcnConfig(g=1 / 64, initial_alpha=0.15, window="bdp")
    _, queue, marked = at_rest(Dcqcn, config, flows, (8e-3, 20e-3))
    expected = theory.dcqcn_renewal(flows)
    marks = expected * 12e-3 * theory.LINE / (8 * theory.WIRE)
    tolerance = 0.1 + 2.5 / marks**0.5  # as in the rack
    assert marked == pytest.approx(expected, rel=tolerance)
    assert queue == pytest.approx(theory.dcqcn_queue(expected), rel=tolerance)
    assert theory.dcqcn_fluid(flows) == pytest.approx(expected, rel=0.25)  # and why: see `dcqcn_renewal`
