"""Ports with several queues, with real packets: shares, latency, RED and WRED, as in virtual time."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from testbed.results import folder as results
from testbed.results.tables import QUEUE_SERIES, QUEUES
from tests.support.runs import UNDRAWN, Runs

pytestmark = [pytest.mark.root, pytest.mark.measures]
LINE, FRAME = 100e9, 1078
PACKET = FRAME * 8 / LINE
STEP = 500e3
LEAVING = """
controller: { name: fixed, rate: 100 % }
tuner: { name: static, kmin: 100 kB, kmax: 100 kB, pmax: 1 }
time: { duration: 400 us, warmup: 0 }
traffic:
  pattern: flows
  flows:
    - { src: h1, dst: h4, size: 400 kB }
    - { src: h2, dst: h4, size: 400 kB }
    - { src: h3, dst: h4, size: 400 kB }
    - { src: h1, dst: h4, size: 1 kB, start: 60 us }
rack:
  hosts: 4
  switch: { marking: dequeue, buffer: 1.8 MB }
"""
FIVE = """
controller: { name: fixed, rate: 35 % }
tuner: { name: static, kmin: 400 kB, kmax: 1.6 MB, pmax: 0.2, reference_rate: 100 Gbit/s }
time: { duration: 2 ms, warmup: 1 ms }
traffic:
  pattern: flows
  flows: [{ src: h1, dst: h6 }, { src: h2, dst: h6 }, { src: h3, dst: h6 }, { src: h4, dst: h6 }, { src: h5, dst: h6 }]
packets:
  - { of: { hosts: [h1] }, dscp: 3 }
  - { of: { hosts: [h2, h3] }, dscp: 1 }
  - { of: { hosts: [h4] }, dscp: 2 }
  - { of: { hosts: [h5] }, dscp: 2, ecn: off }
rack:
  switch:
    buffer: 3 MB
    classes:
      one: { dscp: 1, queue: 1 }
      two: { dscp: 2, queue: 2 }
      three: { dscp: [3, 26], queue: 3 }
      answers: { dscp: [0, 48], queue: 7 }
    queues:
      1: { weight: 2 }
      2: { wred: on, red: { kmin: 500 kB, kmax: 500 kB, pmax: 100 % } }
      3: { schedule: strict }
      7: { schedule: strict, red: off }
"""


def test_five_flows_in_three_queues(runs: Runs, tmp_path: Path) -> None:
    """A strict flow of 35 %, and twice as much in queues of weights 2 and 1 as is left for them."""
    (file := tmp_path / "five.yaml").write_text(FIVE)
    folder = runs.clean(str(file), "--dilation", "3000", *UNDRAWN).folder
    tables = results.load(folder).tables
    names = results.read_table(folder / QUEUES).to_pydict()
    series = results.read_table(folder / QUEUE_SERIES).to_pydict()
    row = {
        number: np.flatnonzero(np.array(series["queue_of"]) == name)
        for name, port, number in zip(names["queue_of"], names["port"], names["number"], strict=True)
        if port == "s1-eth6"
    }
    time, columns = np.array(series["time"]), {name: np.array(series[name]) for name in series if name != "queue_of"}

    def last(number: int, name: str) -> float:
        return float(columns[name][row[number][-1]])

    share = {}
    for number, mine in row.items():
        inside = mine[time[mine] >= 1e-3]
        sent, taken = columns["tx_bytes"][inside], time[inside]
        share[number] = (sent[-1] - sent[0]) * 8 / (taken[-1] - taken[0]) / LINE
    assert share[3] == pytest.approx(0.35, rel=0.02)
    assert share[1] == pytest.approx(2 / 3 * (1 - share[3]), rel=0.02)
    assert share[2] == pytest.approx(1 / 3 * (1 - share[3]), rel=0.02)

    rtts = tables["flow_series"].to_pydict()
    rtt = np.array([one for one, flow in zip(rtts["rtt"], rtts["flow"], strict=True) if flow == "h1-h6"])
    flows = tables["flows"].to_pydict()
    waited = rtt[~np.isnan(rtt)] - flows["base_rtt"][0]
    assert waited.min() > -0.01 * flows["base_rtt"][0]
    # The packet that has begun, half of it on average; and the shaper's bucket. A clean run may have a stall or two,
    # which move the mean and the last percents.
    assert np.median(waited) < (0.5 + 1.5) * PACKET
    assert np.quantile(waited, 0.9) < (1 + 1.5) * PACKET

    histograms = tables["histograms"].to_pydict()
    of_queue = np.array(histograms["histogram"]) == "s1-eth6 q1"
    lower, upper, count = (np.array(histograms[name])[of_queue] for name in ("lower", "upper", "count"))
    depth = (lower + upper) / 2
    share_marked = np.clip(0.2 * (depth - 400e3) / 1.2e6, 0, None)
    share_marked[depth > 1.6e6] = 1
    expected = float((count * share_marked).sum()) - last(1, "dropped_packets")
    assert last(1, "marked_packets") == pytest.approx(expected, rel=0.02, abs=4 * math.sqrt(expected))

    # WRED: what is not ECN-capable gets in until the step is reached, as much of it as of the other flow.
    assert flows["ce_packets"][4] == 0 < flows["ce_packets"][3]
    assert flows["delivered_packets"][4] * FRAME < STEP
    assert last(2, "peak_queue") > STEP
    assert last(3, "marked_packets") == last(3, "dropped_packets") == 0


def test_marking_at_dequeue(runs: Runs, tmp_path: Path) -> None:
    """Three senders fill a queue and stop; a single packet comes behind them, and leaves nothing behind.

    Marked are all of the others but those that leave until a step of K is reached (a third of what comes meanwhile, as
    three senders fill it) and those behind which no more than K waits at the end.
    """
    (file := tmp_path / "leaving.yaml").write_text(LEAVING)
    folder = runs.clean(str(file), "--dilation", "4000", *UNDRAWN).folder
    single, *others = sorted(results.load(folder).tables["flows"].to_pydict()["ce_packets"])
    assert single == 0
    assert sum(others) == pytest.approx(3 * 400 - 100e3 / FRAME * 3 / 2, abs=8)
