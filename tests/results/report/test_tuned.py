"""Rewards and states of tuners: from the run's record to the results folder and into the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from testbed.errors import BadInput
from testbed.results.report import tuned
from testbed.results.tables import TUNERS, write_tables
from testbed.results.tuner_log import TunerLog
from tests.support.synthetic_runs import run


def logs() -> list[TunerLog]:
    """Two switches, four slots of 1 ms; one learns and falls back in its third."""
    found = []
    for switch in ("leaf1", "leaf2"):
        log = TunerLog(switch)
        for slot, state in enumerate(("baseline", "exploring", "fallen back", "fallen back")):
            report = {"reward": 0.1 * slot} | ({"falls": 1.0} if slot > 1 and switch == "leaf1" else {})
            log.decided(1e-3 * (slot + 1), 1e-4, report, state if switch == "leaf1" else "")
        found.append(log)
    return found


def test_what_was_reported_comes_back(tmp_path: Path) -> None:
    write_tables(tmp_path, replace(run(), tuners=logs()))
    assert pq.read_schema(tmp_path / TUNERS).field("time").metadata[b"unit"] == b"s"
    first, second = tuned.read(tmp_path / TUNERS)
    assert (first.switch, second.switch) == ("leaf1", "leaf2")
    assert first.states == ["baseline", "exploring", "fallen back", "fallen back"]
    assert first.reported("reward").tolist() == pytest.approx([0, 0.1, 0.2, 0.3])
    assert np.isnan(first.reported("falls")).tolist() == [True, True, False, False]
    assert second.time == pytest.approx([1e-3, 2e-3, 3e-3, 4e-3])


def test_without_slots_there_is_no_table(tmp_path: Path) -> None:
    write_tables(tmp_path, replace(run(), tuners=[TunerLog("s1")]))
    assert not (tmp_path / TUNERS).exists()


def test_the_reward_is_drawn_per_switch_with_the_states_in_words() -> None:
    (plot,) = tuned.reward_plots(logs(), duration=5e-3, warmup=0.0)
    assert [line.name for line in plot.lines] == ["leaf1", "leaf2"]
    assert plot.lines[0].x.tolist() == pytest.approx([1, 2, 3, 4])
    assert plot.lines[0].y.tolist() == pytest.approx([0, 0.1, 0.2, 0.3])
    assert "mean 0.150" in plot.note
    assert "fallen back 25 % (first at 3 ms)" in plot.note


def test_a_slot_without_a_reward_is_not_in_the_mean() -> None:
    log = TunerLog("s1")
    for slot, report in enumerate(({}, {"reward": 0.2}, {"reward": 0.4})):
        log.decided(1e-3 * slot, 1e-4, report)
    (plot,) = tuned.reward_plots([log], duration=5e-3, warmup=0.0)
    assert "mean 0.300" in plot.note


def test_a_tuner_without_a_reward_has_no_plot() -> None:
    log = TunerLog("s1")
    log.decided(1e-3, 1e-4, {})
    assert tuned.reward_plots([log], 5e-3, 0.0) == []


def test_another_table_is_refused(tmp_path: Path) -> None:
    write_tables(tmp_path, replace(run(), tuners=logs()))
    (tmp_path / "flows.parquet").rename(tmp_path / TUNERS)
    with pytest.raises(BadInput, match=r"tuners.parquet is damaged: column state is missing"):
        tuned.read(tmp_path / TUNERS)
