"""Messages that go on in the queue pair of the one before: with its rate, its window, and what it has on its way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.errors import BadInput
from testbed.experiment.load import load, resolve
from testbed.results.record import RunRecord
from tests.support.simulated import simulated

LINE = 100e9
TWO_MESSAGES = """\
rack: {hosts: 3}
traffic:
  pattern: flows
  flows:
    - {src: h1, dst: h3, size: 400 kB}
    - {src: h2, dst: h3, size: 400 kB}
    - {src: h1, dst: h3, size: 400 kB, after: [0, 1], start: 1 us}
controller: dcqcn
tuner: {preset: dctcp}
time: {duration: 300 us, warmup: 0}
record: {interval: 1 us}
"""
LIMITED = """\
from testbed.controller import CompiledController

class Limited(CompiledController):
    name = "limited"

    def __init__(self, config, path):
        super().__init__(config, path)
        self.window = 50e3
"""
COUNTING = """\
from testbed.controller import CompiledController

class Counting(CompiledController):
    name = "counting"
    seq: int = -1

    def on_ack(self, ack):
        self.seq += 1
        if ack.seq != self.seq or (ack.next_seq - ack.seq - 1) * self.path.wire_size != ack.inflight:
            raise ValueError
"""
FIRST, SECOND = 0, 1  # of the flows from h1, in the order of hosts


def run(pairs: str, *settings: str) -> RunRecord:
    return simulated(TWO_MESSAGES, [f"queue_pairs={pairs}", *settings])


def at_start(record: RunRecord, column: str) -> float:
    """What the second message has at the first sample after its start."""
    series = record.flow_series
    first = np.searchsorted(series.time, record.flows.start[SECOND], side="right")
    return float(getattr(series, column)[first, SECOND])


def test_dcqcn_goes_on_with_the_rate_to_which_it_was_cut() -> None:
    """Alpha begins as 1 and stays there while CNPs come: each of them halves the rate (Zhu et al., equation 1)."""
    anew, on = run("per-message"), run("per-pair")
    assert at_start(anew, "rate") == LINE
    cuts = int(on.flows.cnps[FIRST])
    assert cuts == 2
    assert at_start(on, "rate") == pytest.approx(LINE / 2**cuts)
    slower = (on.flows.finished - on.flows.start)[SECOND] / (anew.flows.finished - anew.flows.start)[SECOND]
    assert slower > 2  # and not 4: it recovers


def test_what_the_message_before_has_on_its_way_is_in_the_window(tmp_path: Path) -> None:
    """The second one starts when the receiver has all of the first, and half an RTT of its ACKs are still to come."""
    (file := tmp_path / "limited.py").write_text(LIMITED)
    beyond = {}
    for pairs in ("per-message", "per-pair"):
        series = run(pairs, f"controller={file}", "traffic.flows.2.start=0 s").flow_series
        beyond[pairs] = series.inflight[:, [FIRST, SECOND]].sum(axis=1).max()
    assert beyond["per-pair"] <= 50e3 < beyond["per-message"]


def test_messages_at_once_have_queue_pairs_of_their_own() -> None:
    """Both have something to send: none waits for the other, and none shares its state."""
    record = simulated(TWO_MESSAGES.replace("after: [0, 1], start: 1 us", "start: 20 us"), ["queue_pairs=per-pair"])
    assert at_start(record, "rate") == LINE


def test_sequence_numbers_go_on(tmp_path: Path) -> None:
    """What compares them, as HPCC does to decide once per RTT, would be deaf for 400 packets if they began anew."""
    (file := tmp_path / "counting.py").write_text(COUNTING)
    record = run("per-pair", f"controller={file}", "traffic.flows.2.start=0 s")
    assert record.interrupted == ""
    assert record.flows.acked_packets.tolist() == [400, 400, 400]


def test_paths_go_on_as_well() -> None:
    """Over two spines, by the hash of the source port: eight messages one after the other take one path, or both."""
    chain = "\n".join(
        f"    - {{src: h1, dst: h3, size: 20 kB, after: [{number}]}}" for number in range(7)
    )  # fmt: skip
    text = f"""\
rack: {{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 2}}
traffic:
  pattern: flows
  flows:
    - {{src: h1, dst: h3, size: 20 kB}}
{chain}
controller: fixed
time: {{duration: 200 us, warmup: 0}}
"""
    used = {}
    for pairs in ("per-message", "per-pair"):
        record = simulated(text, [f"queue_pairs={pairs}"])
        assert np.isfinite(record.flows.finished).all()
        up = [place for place, name in enumerate(record.ports) if name in ("leaf1-eth3", "leaf1-eth4")]
        used[pairs] = int((record.port_series.tx_packets[-1, up] > 0).sum())
    assert used == {"per-message": 2, "per-pair": 1}


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (["controller=adpg-nn"], "queue_pairs: 'per-pair' is for controllers per flow; 'adpg-nn' decides in batches"),
        (["engine=fluid"], "queue_pairs: in the fluid model every flow has a state of its own; say 'per-message'"),
        (["queue_pairs=per-host"], "queue_pairs: 'per-host' is not allowed; allowed: per-message, per-pair"),
    ],
)
def test_what_cannot_be_is_said(tmp_path: Path, settings: list[str], why: str) -> None:
    (file := tmp_path / "two.yaml").write_text(TWO_MESSAGES + "queue_pairs: per-pair\nengine: virtual\n")
    with pytest.raises(BadInput) as refused:
        resolve(load(str(file)).apply(settings))
    assert why in str(refused.value)
