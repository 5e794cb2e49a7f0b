"""ADPG with real packets, held against the equilibrium of its reward: QL = T (beta - 1 + target sqrt(N)).

Facts sheet, 4.4. The bounds are those of a packet network: what the fluid model leaves out is a packet or two per flow.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.support.runs import VIRTUAL, run

T_REF, BETA, TARGET = 8.192e-6, 1.5, 0.064
QUEUE_ERROR = 0.2
LEAST_SU, LEAST_FR = 95.0, 85.0  # %


@pytest.mark.parametrize("senders", [8, 64])
def test_many_to_one_rests_at_the_oracle(tmp_path: Path, senders: int) -> None:
    start = "10 %" if senders == 8 else "1 %"
    settings = ("--controller", "adpg", "--set", f"controller.start_rate={start}", "--set", "time.warmup=3.5 ms")
    summary = run(tmp_path / "out", f"incast-{senders}", *settings, "--duration", "7 ms", *VIRTUAL)
    assert summary["ql_mean"] == pytest.approx(T_REF * (BETA - 1 + TARGET * math.sqrt(senders)), rel=QUEUE_ERROR)
    assert summary["su"] >= LEAST_SU
    assert summary["fr_flows"] >= LEAST_FR
    assert summary["drops_in_run"] == 0
