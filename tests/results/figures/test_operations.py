"""Messages and ranks of collective operations."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.results.figures import operations
from tests.support.synthetic_runs import run


def test_messages_of_an_exchange() -> None:
    """Two exchanges of three hosts at 1 and 3 ms; the second lasts twice as long, the third does not end, and the
    fourth waits for it in vain."""
    record = run([0.04] * 24, sizes=[32768] * 24)
    flows, end = record.flows, np.array([1.0, 1, 2, 2, 3, 3])
    flows.src, flows.dst = [*"aabbcc"] * 4, [*"bcacab"] * 4
    flows.group, flows.label = np.repeat([0, 1, 2, 3], 6), ["alltoall-32768"] * 24
    flows.start = np.repeat([1e-3, 3e-3, 8e-3, np.inf], 6)
    flows.finished = flows.start + 1e-4 * np.concatenate([end, 2 * end, end, end])
    flows.finished[17:] = np.nan
    (found,) = operations.messages(flows)
    assert (found.label, found.size, found.operations) == ("alltoall-32768", 32768, 2)
    assert found.message == pytest.approx(1.5 * 2e-4)
    assert found.rank == pytest.approx(1.5 * 3e-4)  # every host has a message to or from c
    assert found.operation == pytest.approx(1.5 * 3e-4)


def test_a_rank_may_be_done_before_the_operation() -> None:
    record = run([0.1] * 2, sizes=[100.0] * 2)
    flows = record.flows
    flows.src, flows.dst, flows.group = ["a", "b"], ["b", "c"], np.zeros(2, np.int64)
    flows.finished = flows.start + np.array([1e-3, 4e-3])
    (found,) = operations.messages(flows)
    assert found.rank == pytest.approx((1e-3 + 4e-3 + 4e-3) / 3)
    assert operations.messages(run().flows) == []
