"""The controllers do in the rack what their papers say they settle at. Numbers are from theory, not from our output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.results.folder import read_table
from tests.support.known import eight
from tests.support.runs import Runs, run_clean

pytestmark = [pytest.mark.root, pytest.mark.slow]


@pytest.mark.parametrize("controller", ["dcqcn", "swift", "hpcc"])
def test_one_flow_fills_the_link_and_two_share_it(tmp_path: Path, controller: str) -> None:
    """Facts sheet, section 10: the second flow starts while the first one has the whole link.

    DCQCN with the values of NICs: those of the paper need tens of milliseconds to climb back to half a link. HPCC holds
    eta = 95 % over the RTT that it is told of: the 3/64 of it for which an agent gathers feedback and packets, and how
    late the agent is, are not in there.
    """
    options = ["--set", "traffic.stagger=1 ms", "--duration", "6 ms", "--set", "time.warmup=3.5 ms"]
    if controller == "dcqcn":
        options += ["--set", "controller.preset=nic"]
    summary = run_clean(tmp_path, "incast-2", "--controller", controller, "--set", "tuner.preset=secn1", *options)
    assert alone(tmp_path / "clean", summary["bottleneck"]) > (0.85 if controller == "hpcc" else 0.9)
    assert summary["drops_in_run"] == 0
    assert summary["jain_flows"] > 0.95


def alone(results: Path, port: str) -> float:
    """Utilisation between 0.2 and 1 ms, while there is one flow."""
    series = [one for one in read_table(results / "port_series.parquet").to_pylist() if one["port"] == port]
    time, sent = ([one[name] for one in series] for name in ("time", "tx_bytes"))
    first, last = np.interp([0.2e-3, 1e-3], time, sent)
    return float((last - first) * 8 / (100e9 * 0.8e-3))


def test_hpcc_keeps_its_utilisation_with_an_empty_queue_and_loses_nothing(runs: Runs) -> None:
    """eta = 95 % (HPCC 3.2); the buffer has no room for more than eight first windows."""
    summary = eight(runs, "hpcc").summary
    assert summary["su"] == pytest.approx(95, abs=3)
    assert summary["ql_mean"] < 0.1 * 8e-6  # near-empty: a tenth of a base RTT
    assert summary["drops_in_run"] == 0
