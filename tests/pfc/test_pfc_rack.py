"""A start at line rate that overruns a lossy switch, over a lossless one, with real packets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rack.runs import run_clean

# 8 x 100 Gbit/s for one: they bring 5 MB more than leave within 60 us, long before marks have slowed them down.
LOSSLESS = """
rack:
  switch:
    pfc: {xoff: 50 kB}
traffic: {pattern: incast, senders: 8}
controller: {name: dcqcn, preset: paper}
time: {duration: 4 ms, warmup: 1 ms}
"""


@pytest.mark.root
@pytest.mark.slow
def test_lossless_means_no_drop(tmp_path: Path) -> None:
    file = tmp_path / "lossless.yaml"
    file.write_text(LOSSLESS)
    summary = run_clean(tmp_path, str(file), "--metrics-addr", "none")
    assert summary["lossless"]
    assert summary["drops_in_run"] == 0
    assert summary["pause_frames"] >= 2 * 8  # each sender was paused and let go at least once
    assert 0 < summary["paused_in_run"] < 7 / 8 * 100  # eight share the link of one: they rest that much at most
    assert summary["su"] >= 95.0
