"""Feedback that is late or comes twice reaches the controller as it would from a network that does that."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.results.trace import FEEDBACK
from testbed.sdk.conformance.disorder import SHARE
from testbed.sdk.conformance.trial import RTT
from tests.support.trials import tried


def test_duplicate_and_late_feedback_reaches_the_controller() -> None:
    trial = tried("fixed", 1, 200 * RTT, disorder=True)
    flows, decided = trial.record.flows, trial.decided
    heard = decided["kind"] == FEEDBACK
    assert flows.acked_packets[0] / flows.sent_packets[0] == pytest.approx(1 + SHARE, abs=0.03)
    assert decided["lost_packets"][heard].sum() > 0  # what was overtaken looks lost
    assert flows.late_acks[0] > 0.5 * SHARE * flows.sent_packets[0]
    late = np.asarray(decided["rtt"][heard]) - trial.rtt
    assert (late > 1e-9).mean() == pytest.approx(SHARE, abs=0.03)
    assert 0.9 * RTT < late.max() <= trial.rtt


def test_without_it_nothing_is_late() -> None:
    flows = tried("fixed", 1, 200 * RTT).record.flows
    assert flows.late_acks[0] == flows.lost_packets[0] == 0
