"""ADPG with real packets, held against the equilibrium of its reward: QL = T (beta - 1 + target sqrt(N)).

Facts sheet, 4.4. The bounds are those of a packet network: what the fluid model leaves out is a packet or two per flow.
"""

from __future__ import annotations

import math

import pytest

from tests.support.known import eight
from tests.support.runs import Runs

T_REF, BETA, TARGET = 8.192e-6, 1.5, 0.064
QUEUE_ERROR = 0.2
LEAST_SU, LEAST_FR = 95.0, 85.0  # %


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("senders", [8, 64])
def test_many_to_one_rests_at_the_oracle(runs: Runs, senders: int) -> None:
    if senders == 8:
        summary = eight(runs, "adpg").summary
    else:
        settings = ("--controller", "adpg", "--set", "controller.start_rate=1 %", "--set", "time.warmup=3.5 ms")
        # At 1000 the shaper's timers can be late by more than one of its bursts: virtual queue and shaper differ.
        summary = runs.clean("incast-64", *settings, "--duration", "7 ms", "--dilation", "2500").summary
    assert summary["ql_mean"] == pytest.approx(T_REF * (BETA - 1 + TARGET * math.sqrt(senders)), rel=QUEUE_ERROR)
    assert summary["su"] >= LEAST_SU
    assert summary["fr_flows"] >= LEAST_FR
    assert summary["drops_in_run"] == 0
