"""A ring among agents of two processes: whoever sees the last packet received releases and wakes who waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.virtual.rings import bus_bandwidth
from tests.support.runs import run_clean

EXPERIMENT = """
traffic: {pattern: allreduce, ranks: 4, size: 800 kB, iterations: 3}
controller: {name: fixed, rate: 100 Gbit/s}
time: {duration: 0.6 ms, warmup: 0, dilation: 2000}
"""


@pytest.mark.root
def test_a_ring_is_nearly_as_fast_as_its_closed_form(tmp_path: Path) -> None:
    (tmp_path / "ring.yaml").write_text(EXPERIMENT)
    (job,) = run_clean(tmp_path, str(tmp_path / "ring.yaml"))["jobs"]
    assert job["iterations"] == 3
    assert job["bus_bandwidth"] == pytest.approx(bus_bandwidth(4, 800e3), rel=0.1)
    assert job["straggler"] == pytest.approx(1, abs=0.1)
