"""A ring among agents of two processes: whoever sees the last packet received releases and wakes who waits."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import compute
from pyarrow.parquet import read_table

from tests.engines.virtual.rings import bus_bandwidth
from tests.support.runs import SHALLOW, run_clean

EXPERIMENT = """
traffic: {pattern: allreduce, ranks: 4, size: 800 kB, iterations: 3}
controller: {name: fixed, rate: 100 Gbit/s}
time: {duration: 0.6 ms, warmup: 0}
"""


TWO_MESSAGES = """
rack: {hosts: 3}
traffic:
  pattern: flows
  flows:
    - {src: h1, dst: h3, size: 400 kB}
    - {src: h2, dst: h3, size: 400 kB}
    - {src: h1, dst: h3, size: 400 kB, after: [0, 1], start: 1 us}
queue_pairs: per-pair
controller: dcqcn
tuner: {preset: dctcp}
time: {duration: 200 us, warmup: 0}
record: {interval: 1 us}
"""


@pytest.mark.root
@pytest.mark.measures
def test_a_message_goes_on_with_the_rate_of_the_one_before(tmp_path: Path) -> None:
    """Each CNP halves DCQCN's rate while they come (Zhu et al., equation 1); it recovers later than here."""
    (tmp_path / "two.yaml").write_text(TWO_MESSAGES)
    run_clean(tmp_path, str(tmp_path / "two.yaml"), *SHALLOW)
    flows, series = (read_table(tmp_path / "clean" / f"{name}.parquet") for name in ("flows", "flow_series"))
    first, second = flows.to_pylist()[:2]
    own = series.filter(compute.equal(series["flow"], second["flow"])).to_pylist()
    began = next(row["rate"] for row in own if row["time"] > second["start"] + 1e-6)
    assert first["cnps"] > 0
    assert began == pytest.approx(100e9 / 2 ** first["cnps"])


@pytest.mark.root
@pytest.mark.measures
def test_a_ring_is_nearly_as_fast_as_its_closed_form(tmp_path: Path) -> None:
    (tmp_path / "ring.yaml").write_text(EXPERIMENT)
    (job,) = run_clean(tmp_path, str(tmp_path / "ring.yaml"), *SHALLOW)["jobs"]
    assert job["iterations"] == 3
    assert job["bus_bandwidth"] == pytest.approx(bus_bandwidth(4, 800e3), rel=0.1)
    assert job["straggler"] == pytest.approx(1, abs=0.1)
