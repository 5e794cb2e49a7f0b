"""Bolt in the rack: SRCs through Linux's bridge and its routing, classes below the shaper, every SRC accounted for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from testbed.results import decisions
from testbed.results.trace import SRC
from tests.support import theory
from tests.support.runs import Runs

pytestmark = [pytest.mark.root, pytest.mark.measures, pytest.mark.slow]

LINK = 2e-6  # s, delay
LEAVES = """
rack: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 2, uplink: {rate: 100 Gbit/s, delay: 2 us}}
traffic: {pattern: flows, flows: [{src: h1, dst: h3}, {src: h2, dst: h3}]}
time: {duration: 1 ms, warmup: 500 us}
controller: bolt
"""
STAR = """
rack: {kind: star, hosts: 5, link: {rate: 100 Gbit/s, delay: 2 us}}
traffic: {pattern: incast, senders: 4}
time: {duration: 2 ms, warmup: 1 ms}
controller: bolt
"""


@pytest.mark.parametrize(
    ("experiment", "links", "window"), [(STAR, 2, 1e-3), (LEAVES, 4, 5e-4)], ids=["bridge", "routers"]
)
def test_srcs_come_back_sooner_than_answers_and_none_is_lost(
    runs: Runs, tmp_path: Path, experiment: str, links: int, window: float
) -> None:
    """A clean run has no broken invariant: SRCs made = received + dropped. All links of the path but one lie before
    the last switch.
    """
    (tmp_path / "experiment.yaml").write_text(experiment)
    # one that is later fills the queue for a hundredth of the window, which is its p99
    run = runs.clean(str(tmp_path / "experiment.yaml"), "--dilation", "2000", latest=window / 100)
    agents = decisions.read(run.folder)
    kind, rtt = (np.concatenate([one.columns[name] for one in agents]) for name in ("kind", "rtt"))
    ages, rtts = rtt[kind == SRC], rtt[(kind != SRC) & (rtt > 0)]
    assert len(ages) > 50
    share = (links - 1) / links
    base = links * (2 * LINK + (2 * theory.WIRE - theory.PAYLOAD) * 8 / theory.LINE)
    assert share * base <= ages.min() <= np.median(ages) < share * np.median(rtts) + 0.1 * base
    assert run.summary["su"] > 95
    assert run.summary["ql_p99"] < 20 * theory.WIRE * 8 / theory.LINE
    assert run.summary["drops_in_run"] == 0
