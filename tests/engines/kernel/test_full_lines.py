"""Hosts that send as much as their lines carry, and answer on the same lines."""

from __future__ import annotations

import pytest

from tests.support import theory
from tests.support.runs import Runs

pytestmark = [pytest.mark.root, pytest.mark.measures, pytest.mark.alone]

PACKETS = 12  # three senders meet at a port, and two frames are in the bucket of each host's shaper, both ways


def test_answers_do_not_wait_behind_data_that_is_not_on_the_wire_yet(runs: Runs) -> None:
    """All lines are full both ways, so no port of the switch gets more than it can pass on: RTTs stay at their base.

    A shaper that wakes late loses that time. If its backlog stayed, answers would soon wait in it for tens of us.
    """
    options = ("--controller", "fixed", "--duration", "1.8 ms", "--set", "time.warmup=0.8 ms", "--dilation", "5000")
    at_once = ("--set", "traffic.size=20 MB")  # endless flows start apart, and what the first ones queue stays for good
    summary = runs.clean("all-to-all-4", *options, *at_once).summary
    assert summary["rtt_p99"] <= summary["base_rtt"] + PACKETS * theory.WIRE * 8 / theory.LINE
    assert summary["fr_flows"] > 95
    assert summary["su_receivers"] > 97
