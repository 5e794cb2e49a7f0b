"""Trimming with real packets: what finds its queue full arrives shortened, and comes again."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.capture.reader import Reader
from testbed.results import folder as results
from tests.support.packets import checksum
from tests.support.runs import UNDRAWN, Runs

pytestmark = [pytest.mark.root, pytest.mark.measures]

INCAST = """
rack:
  kind: star
  hosts: 9
  link: { rate: 25 Gbit/s, delay: 2 us }
  switch: { buffer: 30 kB, trim: on, queues: { 0: { red: off } } }
traffic: { pattern: incast, senders: 8, size: 300 kB }
controller: fixed
receiver: { name: eqds, preset: trimming }
transport: { recovery: selective-repeat }
time: { duration: 2 ms, warmup: 0 s }
"""
SIZE, DSCP = 128, 5


def test_trimmed_packets_are_shorter_on_the_wire_and_ask_for_credits(runs: Runs, tmp_path: Path) -> None:
    (file := tmp_path / "incast.yaml").write_text(INCAST)
    run = runs.clean(str(file), *UNDRAWN, "--pcap", "nic:h9", "--snap", "336 B")
    arrived = [frame for frame in Reader(run.folder / "nic-h9.pcapng") if frame.data[15] >> 2 == DSCP]
    assert run.summary["trims"] == len(arrived) > 100
    for frame in arrived:
        assert frame.length == SIZE
        assert int.from_bytes(frame.data[16:18], "big") == SIZE - 14
        assert int.from_bytes(frame.data[38:40], "big") == SIZE - 34
        assert checksum(frame.data[14:34]) == 0
    flows = results.load(run.folder).tables["flows"].to_pydict()
    assert all(flows["finished"])
    assert sum(flows["resent_packets"]) >= len(arrived)
    assert sum(flows["timeouts"]) == 0
