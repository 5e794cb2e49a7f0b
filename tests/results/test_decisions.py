"""decisions.parquet: whatever the agents hold is in the file, in order, block after block."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.controller import Paths
from testbed.results import decisions
from testbed.results.decisions import Served
from testbed.results.folder import DECISIONS
from testbed.results.trace import START, DecisionTrace

FLOWS, BLOCK = 3, 64  # rows
PATHS = Paths(np.full(FLOWS, 1e9), np.full(FLOWS, 1e-5), np.full(FLOWS, 1), 100, 200)


def trace(calls: int) -> DecisionTrace:
    """Calls about all flows, each with a rate of its own."""
    made = DecisionTrace(10_000, 0)
    for number in range(calls):
        made.record(START, float(number), FLOWS, np.arange(FLOWS))
        made.decided(np.full(FLOWS, 1.0 + number), np.full(FLOWS, 2.0), np.full(FLOWS, np.inf))
    return made


@pytest.mark.parametrize("calls", [(100, 7), (0, 50), (21, 0), (0, 0)])
def test_agents_have_blocks_of_their_own(
    calls: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "_BLOCK", BLOCK)
    served = [Served(FLOWS * number, PATHS, trace(count)) for number, count in enumerate(calls)]
    (tmp_path / DECISIONS).write_bytes(decisions.encode(served))
    for agent, (read, count) in enumerate(zip(decisions.read(tmp_path), calls, strict=True)):
        assert read.first == FLOWS * agent
        assert read.columns["call"].tolist() == np.repeat(np.arange(count), FLOWS).tolist()
        assert read.columns["rate"].tolist() == np.repeat(1.0 + np.arange(count), FLOWS).tolist()
        assert read.columns["flow"].tolist() == [*range(FLOWS)] * count
