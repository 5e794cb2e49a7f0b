"""Go-back-N and selective repeat, with messages, in the kernel: all arrives once, in order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.support.runs import run_clean

pytestmark = [pytest.mark.root, pytest.mark.measures]
TWO_TO_ONE = """
rack: {kind: star, hosts: 3, link: {rate: 100 Gbit/s, loss: 0.01}}
traffic: {pattern: incast, senders: 2, payload: 4096 B, size: 1 MB}
controller: {name: fixed, rate: 40 %}
transport: {messages: 65536 B, ack_every: 4, timeout: 200 us}
time: {duration: 1 ms, warmup: 0 s} # four times as long as they take
"""


@pytest.mark.parametrize("recovery", ["go-back-n", "selective-repeat"])
def test_a_clean_run_though_packets_are_lost(recovery: str, tmp_path: Path) -> None:
    """What clean means there, the invariant `delivery_is_in_order` says."""
    file = tmp_path / "two-to-one.yaml"
    file.write_text(TWO_TO_ONE)
    summary = run_clean(tmp_path, str(file), "--dilation", "3000", "--set", f"transport.recovery={recovery}")
    flows = pq.read_table(tmp_path / "clean" / "flows.parquet").to_pydict()
    assert np.isfinite(flows["finished"]).all()
    assert flows["acked_packets"] == [245, 245]
    assert min(flows["lost_packets"]) > 0
    least = 15 * 4178 * 8 / 40e9 + flows["base_rtt"][0]
    assert 0.95 * least < summary["message_p50"] < 3 * least  # late timers make messages longer, and none shorter
