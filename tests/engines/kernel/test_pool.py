"""The memory that the ports of a switch share, with real packets: closed forms, to a packet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.results import folder as results
from testbed.results.tables import GROUPS, QUEUE_SERIES
from tests.support.runs import UNDRAWN, Runs

pytestmark = [pytest.mark.root, pytest.mark.measures]
POOL, FRAME, RESERVED = 3e6, 1078, 100e3
SHARED = """
controller: { name: fixed, rate: 60 % }
tuner: { name: static, kmin: 3 MB, kmax: 4 MB, pmax: 0.2 }
time: { duration: 2 ms, warmup: 1 ms }
traffic:
  pattern: flows
  dscp: 3
  flows: [{ src: h3, dst: h1 }, { src: h4, dst: h1 }, { src: h5, dst: h2 }, { src: h6, dst: h2 }]
rack:
  hosts: 6
  switch:
    pool: { size: 3 MB }
    classes:
      three: { dscp: [3, 26], queue: 3 }
      answers: { dscp: [0, 48], queue: 7 }
    queues:
      3: { alpha: 0.5, reserved: 100 kB }
"""


def test_two_congested_queues_share_the_pool(runs: Runs, tmp_path: Path) -> None:
    """Each has its reserve, and alpha / (1 + 2 alpha) of the pool. Calibration has found what one alone may have."""
    (file := tmp_path / "shared.yaml").write_text(SHARED)
    folder = runs.clean(str(file), "--dilation", "2000", *UNDRAWN).folder
    series = results.read_table(folder / QUEUE_SERIES).to_pydict()
    time, names = np.array(series["time"]), np.array(series["queue_of"])
    for port in ("s1-eth1 q3", "s1-eth2 q3"):
        queue = np.array(series["queue"])[(names == port) & (time > 1e-3)]
        assert queue.max() == pytest.approx(RESERVED + POOL / 4, abs=8 * FRAME)
    groups = results.read_table(folder / GROUPS).to_pydict()
    peak = dict(zip(groups["group"], groups["peak"], strict=True))
    assert peak["s1-eth3 g3"] + peak["s1-eth4 g3"] == pytest.approx(RESERVED + POOL / 4, rel=0.3)
    assert peak["s1-eth1 g3"] == 0  # nothing but ACKs comes in there
    assert sum(groups["dropped_packets"]) == 0  # queues refuse first
