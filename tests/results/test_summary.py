"""The figures of a run, summed up."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from testbed.fidelity.verdict import judge
from testbed.results.figures import fct
from testbed.results.summary import Summary, summarise
from testbed.results.verdict import Exit
from tests.support.synthetic_runs import run


def test_summary_holds_the_figures() -> None:
    summary = summarise(run((0.6, 0.4)), judge(run((0.6, 0.4))), experiment="incast-2", controller="dcqcn")
    figures = (summary.su, summary.fr_flows, summary.jain_flows, summary.ql_mean)
    assert figures == pytest.approx((95.0, 66.667, 0.9615, 4e-6), rel=1e-4)
    assert (summary.verdict.word, summary.verdict.exit_code) == ("clean", Exit.CLEAN)


def test_json_has_null_for_the_unknown_and_comes_back() -> None:
    summary = summarise(run(), judge(run()), experiment="incast-2", controller="dcqcn")
    content = json.loads(summary.to_json())
    assert content["fct_mean"] is None
    assert content["verdict"]["word"] == "clean"
    assert Summary.model_validate_json(summary.to_json()).to_json() == summary.to_json()


def test_jain_of_nodes_and_of_flows() -> None:
    """Three flows of one host and one of another, all equal: fair to flows, 3 to 1 for the hosts."""
    summary = summarise(
        run([0.25] * 4, sources=["h1", "h1", "h1", "h2"]),
        judge(run([0.25] * 4, sources=["h1", "h1", "h1", "h2"])),
        experiment="x",
        controller="y",
    )
    assert summary.jain_flows == pytest.approx(1)
    assert summary.jain_hosts == pytest.approx((3 + 1) ** 2 / (2 * (9 + 1)))


def test_the_summary_of_50_000_flows_is_quick() -> None:
    """Quick as numpy is: a hundred times what 500 flows take would be a Python loop over flows."""
    random = np.random.default_rng(1)
    n = 50_000
    record = run([1 / n] * n, samples=2, sizes=random.uniform(1e2, 1e7, n).tolist(), labels=["background"] * n)
    record.flows.finished = record.flows.start + random.uniform(1, 9, n) * fct.ideal_fct(record)
    record.flows.src = [f"h{i % 288}" for i in range(n)]
    record.flows.group = np.arange(n) // 100
    begin = time.process_time()
    summary = summarise(record, judge(record), experiment="x", controller="y")
    assert time.process_time() - begin < 5  # 0.2 s here
    assert summary.fct_finished == n
    assert sum(one.flows for one in summary.slowdown_by_share) == n
    assert len(summary.to_json()) < 20_000
