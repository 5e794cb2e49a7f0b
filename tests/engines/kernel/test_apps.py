"""Real applications beside RoCE flows and alone: the shipped experiments with apps, each shortened."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.runs import UNCALIBRATED, run

pytestmark = [pytest.mark.root, pytest.mark.measures]
QUICK = (*UNCALIBRATED, "--metrics-addr", "none")


def test_tcp_and_roce_share_a_line_by_class(tmp_path: Path) -> None:
    """The TCP flows fill what their class may have, and its queue up to Kmin, with no packet in the switch held against
    its socket. No packet is missing; what iperf3 says and the port agree.
    """
    summary = run(tmp_path / "out", "tcp-cross", "--duration", "2 ms", "--set", "time.warmup=0", *QUICK)
    whats = {one["what"].partition(" at ")[0] for one in summary["verdict"]["reasons"]}
    assert not whats & {"packets are not conserved in s1", "drops outside the model", "the run ended early"}
    tcp, rdma = summary["queues"]
    assert tcp["share"] > 30
    assert tcp["peak"] > 300e3  # 37 kB where sockets count them; Kmin is 400 kB
    assert rdma["packets"] > 0
    assert [len(one["figures"]) > 1 for one in summary["apps"]] == [False] + 4 * [True]  # all four sockets were open
    sent = sum(one["figures"][1]["value"] for one in summary["apps"][1:])
    waits = tcp["peak"] + 4 * 4e6  # bytes that had not left their sockets when iperf3 was stopped
    assert tcp["packets"] * 1514 == pytest.approx(sent * 1514 / 1448, rel=0.05, abs=waits)


@pytest.mark.skipif(not shutil.which("wrk"), reason="needs wrk")
def test_a_web_server(tmp_path: Path) -> None:
    summary = run(tmp_path / "out", "http", "--duration", "5 ms", *QUICK)
    loads = [{figure["name"]: figure["value"] for figure in one["figures"]} for one in summary["apps"][1:]]
    assert len(loads) == 3
    assert all(one["requests"] > 1000 for one in loads)  # nominal: one per second of wall time
