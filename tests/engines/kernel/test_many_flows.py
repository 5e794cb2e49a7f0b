"""As many flows as the largest published incast has: 8,192 to one, each far below one packet per RTT."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import parquet

from tests.support.runs import run_clean

SENDERS, PER_SENDER = 64, 128
GAP = 800e-6  # s between the packets of a flow: a hundred base RTTs; in sum 89 % of the line


@pytest.mark.root
@pytest.mark.measures
@pytest.mark.alone
def test_8192_flows_share_one_line(tmp_path: Path) -> None:
    """Each starts in its turn, so that nothing is lost and whatever is slow is the emulation's fault."""
    flows = SENDERS * PER_SENDER
    summary = run_clean(
        tmp_path, "incast-64", "--set", f"traffic.flows_per_sender={PER_SENDER}", "--controller", "fixed",
        "--set", f"controller.rate={1082 * 8 / GAP / 1e6:g} Mbit/s",
        "--set", f"traffic.stagger={GAP / flows * 1e9:g} ns",
        "--duration", "2 ms", "--set", "time.warmup=0.9 ms", "--dilation", "1500",
    )  # fmt: skip
    assert summary["flows"] == flows
    assert summary["drops_in_run"] == 0
    table = parquet.read_table(tmp_path / "clean" / "flows.parquet").to_pydict()
    assert min(table["acked_packets"]) >= 1  # all flows got through
    assert sum(table["timeouts"]) == 0  # a hundred RTTs of silence are the flow's own
