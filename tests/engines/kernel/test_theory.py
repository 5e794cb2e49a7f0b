"""The rack beside the closed forms of tests/support/theory.py: HPCC's utilisation, Swift's queue, DCQCN's fixed point.

Every test says what its formula leaves out and how much that is: this is its tolerance. In virtual time nothing is late
(tests/engines/virtual/test_theory.py, with more flows and settings): where rack and virtual time agree beside the
formula, it is the algorithm and not the emulation. docs/explanation/fidelity.md has the figures.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.base.arrays import Floats
from testbed.results import decisions
from tests.support import theory
from tests.support.known import DCQCN_PAYLOAD, DCQCN_PMAX, SLACK, dcqcn_at_rest, eight
from tests.support.runs import Runs

pytestmark = [pytest.mark.root, pytest.mark.measures, pytest.mark.alone, pytest.mark.slow]

HPCC_FLOWS = 8
HELD = 1 / 32 + 1 / 64  # of a base RTT: an agent gathers feedback for the one, and packets for the other


def test_hpcc_utilisation_is_eta_and_what_additive_increase_adds(runs: Runs) -> None:
    """U is utilisation *plus* min(queue) / BDP (HPCC 3.2). Paced packets of N flows meet now and then.

    What they make of a queue lies between 0 and the mean queue, which is measured. So utilisation lies between
    U - queue / BDP and U; half a percent is for what is cut off at the two ends of the window. To the queue of periodic
    sources the rack may add what an agent sends at once: it sleeps for 1/64 RTT, which is 1.4 packets of the link.
    """
    summary = eight(runs, "hpcc").summary
    rtt, limit = theory.base_rtt(theory.INT_WIRE), theory.hpcc_utilisation(HPCC_FLOWS, 100)
    load = summary["su"] / 100
    assert limit - summary["ql_mean"] / rtt - 0.005 <= load <= limit + 0.005
    packets = theory.periodic_queue(HPCC_FLOWS, load)
    assert summary["ql_mean"] <= packets * theory.INT_WIRE * 8 / theory.LINE + rtt / 64


def test_hpcc_queue_is_what_too_much_additive_increase_asks_for(runs: Runs) -> None:
    """What agents hold is in flight, but neither on the link nor in the queue."""
    options = ["--controller", "hpcc", "--set", "controller.flows=2", "--set", "tuner.preset=secn1"]
    summary = runs.clean(f"incast-{HPCC_FLOWS}", *options, "--duration", "2 ms").summary
    assert summary["su"] > 99
    queue = summary["ql_mean"] / theory.base_rtt(theory.INT_WIRE)
    assert queue == pytest.approx(theory.hpcc_full(HPCC_FLOWS, 2) - 1, abs=HELD)


def test_swift_rtt_follows_the_target_with_flow_scaling_and_the_queue_is_what_it_waits(runs: Runs) -> None:
    """Swift holds the RTT that it measures at its target, so the queue is what the rest of the path leaves of it.

    The RTT lies above the fluid's by up to half of the swing; 2 % is what
    calibration allows a rate. The median: one late timer of this machine cuts all windows, and the mean remembers it.

    A packet waits at the shaper, which may rightly differ from the virtual queue by `SLACK` (0.35 us): ahead by its
    bucket, or behind by what late timers lost. Sampled packets found 3 frames more than the virtual queue most of the
    time, and 2 less at times. Forwarding may add the 2 % of the base RTT that calibration allows.
    """
    flows = 8
    summary, folder = eight(runs, "swift")
    rtt = rtts(folder, since=summary["window_start"])
    expected, base = theory.swift_rtt(flows), theory.base_rtt(theory.WIRE)
    assert -0.02 * expected <= np.median(rtt) - expected <= theory.swift_swing(flows) / 2 + 0.02 * expected
    assert np.mean(rtt) - base == pytest.approx(summary["ql_mean"], abs=SLACK + 0.02 * base)
    assert summary["jain_flows"] > 0.95


def rtts(results: Path, since: float) -> Floats:
    """Every RTT that a controller was told from then on, in seconds."""
    agents = decisions.read(results)
    told = [(one.columns["time"], one.columns["rtt"]) for one in agents if not one.cut]
    assert len(told) == len(agents)
    return np.concatenate([rtt[(time >= since) & (rtt > 0)] for time, rtt in told])


@pytest.mark.quiet  # no packet may be late by more than `dcqcn_at_rest` allows
def test_dcqcn_queue_and_marks_stand_at_the_fixed_point(runs: Runs) -> None:
    """Parameters of the paper, but for g, see `known.DCQCN`.

    What `dcqcn_renewal` leaves out is that p moves with the queue between two CNPs: a tenth. And marks are few, 350:
    3 sigma of their number. The window of one BDP does not bind: a fair share is less.
    """
    flows = 8
    summary = dcqcn_at_rest(runs).summary
    wire = DCQCN_PAYLOAD + theory.HEADERS
    expected = theory.dcqcn_renewal(flows, wire)
    marks = expected * (18e-3 - 6e-3) * theory.LINE / (8 * wire)
    tolerance = 0.1 + 3 / marks**0.5
    assert summary["marked"] / 100 == pytest.approx(expected, rel=tolerance)
    assert summary["ql_mean"] == pytest.approx(theory.dcqcn_queue(expected, DCQCN_PMAX), rel=tolerance)
    assert summary["su"] > 99
