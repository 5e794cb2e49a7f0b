"""The controllers do what their papers say they settle at. Numbers are from theory, not from our output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.results.folder import read_table
from tests.support.runs import VIRTUAL, run


@pytest.mark.parametrize("controller", ["dcqcn", "swift", "hpcc"])
def test_one_flow_fills_the_link_and_two_share_it(tmp_path: Path, controller: str) -> None:
    """Facts sheet, section 10: the second flow starts while the first one has the whole link.

    DCQCN with the values of NICs: those of the paper need tens of milliseconds to climb back to half a link. HPCC holds
    eta = 95 %.
    """
    options = [
        "--set",
        "tuner.preset=secn1",
        "--set",
        "traffic.stagger=1 ms",
        "--duration",
        "6 ms",
        "--set",
        "time.warmup=3.5 ms",
    ]
    if controller == "dcqcn":
        options += ["--set", "controller.preset=nic"]
    summary = run(tmp_path / "out", "incast-2", *VIRTUAL, "--controller", controller, *options)
    assert alone(tmp_path / "out", summary["bottleneck"]) > 0.9
    assert summary["drops_in_run"] == 0
    assert summary["jain_flows"] > 0.95


def alone(results: Path, port: str) -> float:
    """Utilisation between 0.2 and 1 ms, while there is one flow."""
    series = [one for one in read_table(results / "port_series.parquet").to_pylist() if one["port"] == port]
    time, sent = ([one[name] for one in series] for name in ("time", "tx_bytes"))
    first, last = np.interp([0.2e-3, 1e-3], time, sent)
    return float((last - first) * 8 / (100e9 * 0.8e-3))
