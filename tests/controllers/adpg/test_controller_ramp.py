"""The preset `ramp`, in packets: up quickly on an idle line, and at rest where the papers' policy rests."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.results.papers import kept
from testbed.results.papers.comparison import load
from tests.controllers.adpg.by_hand import oracle
from tests.support.checkout import ROOT
from tests.support.simulated import measured, simulated

LINE, BASE_RTT = 100e9, 8.185e-6
ALONE = (
    "traffic.senders=1", "controller.start_rate=1 %", "time.duration=3.5 ms", "time.warmup=100 us",
    "record.interval=5 us", "record.flows=1",
)  # fmt: skip


@pytest.mark.parametrize("form", ["adpg", "adpg-nn", "adpg-int8"])
def test_an_idle_line_is_full_after_a_hundred_rtts(form: str) -> None:
    ramping, published = (_rtts_to_95_percent(form, preset) for preset in ("ramp", "windowed"))
    assert ramping <= 100
    assert published > 2 * ramping


def _rtts_to_95_percent(form: str, preset: str) -> float:
    series = simulated("incast-2", [f"controller.preset={preset}", *ALONE], controller=form).flow_series
    there = np.flatnonzero(np.asarray(series.rate)[:, 0] >= 0.95 * LINE)
    return float(series.time[there[0]] / BASE_RTT) if len(there) else np.inf


@pytest.mark.parametrize("flows", [2, 8, 64])
def test_the_equilibrium_is_where_it_was(flows: int) -> None:
    settings = ["controller.preset=ramp", "controller.start_rate=1 %", "time.duration=30 ms", "time.warmup=15 ms"]
    run = measured(f"incast-{flows}", settings, controller="adpg")
    assert run.ql_mean == pytest.approx(oracle(flows), rel=0.05)
    assert run.fr_flows > 95
    assert run.su > 99
    assert run.drops_in_run == 0


def test_what_is_kept_of_packets_reaches_the_goal() -> None:
    """From 2 to 8192 flows over 200 ms, from every start below line rate: docs/findings/adpg.md."""
    file = ROOT / "docs/findings/results/adpg-ramp.csv"
    found = kept.from_csv(load("adpg-ramp"), file.read_text(encoding="utf-8")).summaries
    ramping = {column: runs for (row, column), runs in found.items() if row == "ramp"}
    fr = {column: min(one.fr_flows for one in runs.values()) for column, runs in ramping.items()}
    assert min(fr[column] for column in ("2", "8", "8-paths", "16", "64", "128", "256", "1024", "1024-low")) >= 95
    for column in ramping.keys() - {"8-late", "1024-line"}:
        for one in ramping[column].values():
            assert one.ql_mean == pytest.approx(oracle(int(column.partition("-")[0])), rel=0.05)
    for seed, one in ramping["8-late"].items():
        assert one.su > found["ADPG", "8-late"][seed].su - 1
