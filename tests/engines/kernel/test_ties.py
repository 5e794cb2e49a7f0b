"""Symmetric senders lose alike at a full port, with real packets: in virtual time they do so more exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.results import folder as results
from tests.support.runs import UNDRAWN, Runs

pytestmark = [pytest.mark.root, pytest.mark.measures]

LOSSY = """
rack: {hosts: 4, link: {rate: 100 Gbit/s}, switch: {buffer: 500 kB}}
traffic: {pattern: incast, senders: 3, size: 32 MB, payload: 4096 B}
controller: {name: fixed}
tuner: {name: static, kmin: 400 kB, kmax: 490 kB, pmax: 0.1, reference_rate: 100 Gbit/s}
time: {duration: 2 ms}
"""


def test_no_flow_loses_half_of_what_the_others_lose(runs: Runs, tmp_path: Path) -> None:
    """A first come, first served buffer gave one of three 438 losses, and the others 11,311 and 11,869."""
    (file := tmp_path / "lossy.yaml").write_text(LOSSY)
    lost = results.load(runs.clean(str(file), *UNDRAWN).folder).tables["flows"]["lost_packets"].to_numpy()
    assert lost.mean() > 2000
    assert 0.5 * lost.mean() < lost.min() <= lost.max() < 1.5 * lost.mean()
