"""`testbed compare` as a user sees it."""

from __future__ import annotations

import csv
import math
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from testbed.results.figures.queues import QueueFigures
from tests.support.comparing import Command
from tests.support.folders import results


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_label_and_no_figure_is_cut(
    compare: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    for seed in (1, 2):
        for period in ("55 us", "110 us"):
            set_ = (f"controller.alpha_period={period}", "controller.initial_alpha=0.5")
            results(tmp_path / f"{period[:2]}-{seed}", "dcqcn", seed, *set_, su=90.0 + seed, goodput=30.82e9)
    results(tmp_path / "swift", "swift", 1, su=78.0, goodput=35.74e9)
    results(tmp_path / "theta", "theta-powertcp", 1, su=78.0, goodput=35.74e9)
    monkeypatch.setenv("COLUMNS", str(columns))
    done = compare(tmp_path)
    assert done.code == 0
    assert "…" not in done.out
    assert [line for line in done.out.splitlines() if len(line) > columns] == []
    for figure in ("goodput, Gbit/s", "30.82", "35.74", "+16 %", "91.00..92.00", "alpha_period=110 us"):
        assert figure in done.out
    assert done.out.count("decision per flow, us") == done.out.count("SU, %") == {40: 1, 80: 2, 200: 1}[columns]


def test_medians_intervals_and_differences(compare: Command, three: Path) -> None:
    done = compare(three, "--format", "json")
    assert done.code == 0
    assert done.said == ""
    dcqcn, swift = done.json["variants"]
    assert done.json["baseline"] == "dcqcn"
    assert dcqcn["metrics"]["su"] == {
        "median": 91, "interval": [90, 92], "coverage": 0.75, "values": [90, 92, 91], "relative": None,
        "judged": None,
    }  # fmt: skip
    assert swift["metrics"]["su"]["relative"] == pytest.approx(79 / 91 - 1)
    assert swift["metrics"]["ql_mean"]["median"] == pytest.approx(9e-6)
    judged = {name: swift["metrics"][name]["judged"] for name in ("su", "ql_mean", "fr_flows", "drops")}
    assert judged == {"su": "worse", "ql_mean": "better", "fr_flows": "equal", "drops": "equal"}
    assert [run["seed"] for run in swift["runs"]] == [1, 2, 3]
    assert (dcqcn["dominated_by"], swift["dominated_by"]) == ([], [])
    assert set(done.json["metrics"]) >= {"su", "fr_flows", "rtt_p99", "goodput"}
    assert "fct_mean" not in done.json["metrics"]  # no finite flows


def test_what_nobody_has_is_left_out_and_rounding_is_no_difference(compare: Command, tmp_path: Path) -> None:
    for name, su, message in (("dcqcn", 90.0, math.nan), ("swift", 90.0 * (1 + 1e-9), math.nan)):
        results(tmp_path / name, name, 1, su=su, goodput=9e9 if name == "dcqcn" else 9.001e9, message_p50=message)
    done = compare(tmp_path)
    assert re.search(r"SU, % +90\.00 +90\.00 +same", done.out)
    assert re.search(r"goodput, Gbit/s .*\+0\.0111 %", done.out)
    assert "message p50" not in done.out


def test_queues_are_compared_by_number(compare: Command, tmp_path: Path) -> None:
    for name, mean in (("dcqcn", 2e3), ("swift", 1e3)):
        one = QueueFigures(3, "rdma", 50.0, mean, 9e3, 100.0, 1.0, 0.0)
        results(tmp_path / name, name, queues=[one] if name == "dcqcn" else [one, replace(one, queue=7, classes="cnp")])
    done = compare(tmp_path / "dcqcn", tmp_path / "swift", "--baseline", "dcqcn", "--format", "json")
    dcqcn, swift = (one["metrics"] for one in done.json["variants"])
    assert (dcqcn["q3.mean"]["values"], swift["q3.mean"]["relative"]) == ([2e3], -0.5)
    assert (dcqcn["q7.mean"]["values"], swift["q7.mean"]["values"]) == ([None], [1e3])
    assert (
        "q3 rdma mean, kB 2.000 1.000 -50 %"
        in compare(tmp_path / "dcqcn", tmp_path / "swift", "--baseline", "dcqcn").text
    )


def test_text_fits_80_columns_and_says_how_to_read_it(compare: Command, three: Path) -> None:
    for seed in (1, 2, 3):
        results(three / f"c{seed}", "fixed", seed, su=70, fr_flows=90, ql_mean=30e-6)
    results(three / "d1", "hpcc", su=91, fr_flows=95, ql_mean=30e-6, degraded=True)
    done = compare(three)
    assert max(map(len, done.out.splitlines())) <= 80
    assert "90.00..92.00" in done.text
    assert "probability of 75 % with 3 runs" in done.text
    assert "1 degraded" in done.text
    assert "1 of 10 runs are degraded" in done.text
    assert "by dcqcn; swift" in done.text  # fixed: less SU than the one, more queue than the other
    assert "\x1b" not in done.out


def test_a_figure_that_is_unknown_does_not_change_what_the_intervals_cover(compare: Command, three: Path) -> None:
    results(three / "b4", "swift", 4, goodput=float("nan"))
    assert "probability of 75 % with 3 runs, 87.5 % with 4 runs" in compare(three).text


def test_scenarios_have_their_own_baselines_and_dominance(compare: Command, tmp_path: Path) -> None:
    for senders, sus in ((8, (90, 80)), (64, (60, 80))):
        for controller, su in zip(("dcqcn", "swift"), sus, strict=True):
            for seed in (1, 2, 3):
                name, set_ = f"{controller}{senders}{seed}", f"traffic.senders={senders}"
                results(tmp_path / name, controller, seed, set_, su=su, fr_flows=95, ql_mean=5e-6)
    found = {one["name"]: one for one in compare(tmp_path, "--format", "json").json["variants"]}
    assert found["swift, senders=8"]["dominated_by"] == ["dcqcn"]
    assert found["dcqcn, senders=64"]["dominated_by"] == ["swift"]
    assert found["swift, senders=64"]["baseline"] == "dcqcn, senders=64"
    assert found["swift, senders=64"]["metrics"]["su"]["relative"] == pytest.approx(80 / 60 - 1)
    done = compare(tmp_path, "--baseline", "swift, senders=64", "--format", "json")
    assert {one["baseline"] for one in done.json["variants"]} == {"swift, senders=64"}
    notes = " ".join(done.json["notes"])
    assert "traffic.senders: 8, 64" in notes
    assert "rack.hosts: 9, 65" in notes
    gated = compare(tmp_path, "--fail-if", "su < 0.9*baseline")
    assert gated.code == 1
    assert "swift, senders=8: su is 80.00 %, baseline (dcqcn, senders=8) 90.00 %" in gated.said
    assert "senders=64: " not in gated.said


def test_a_controller_that_delivers_nothing_does_not_win(compare: Command, three: Path, tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        results(
            three / f"i{seed}", "fixed", seed, su=0.01, fr_flows=99.9, ql_mean=0.0, ql_p99=0.0, goodput=1e6, drops=0
        )
    done = compare(three)
    assert "3 runs, delivers" in done.text
    assert "fixed: less than 1 % of the best goodput" in done.text
    assert "not comparable" in done.text
    assert done.text.count("-100 %") == 2  # SU and goodput, and not QL
    idle = next(one for one in compare(three, "--format", "json").json["variants"] if one["name"] == "fixed")
    assert (idle["idle"], idle["dominated_by"]) == (True, None)
    shown = {name: (idle["metrics"][name]["relative"], idle["metrics"][name]["judged"]) for name in ("su", "ql_mean")}
    assert shown == {"su": (pytest.approx(0.01 / 91 - 1), "worse"), "ql_mean": (None, None)}
    gated = compare(three, "--fail-if", "ql_mean > 1.1*baseline")
    assert gated.code == 1
    assert "fixed delivers next to nothing, so its ql_mean is not comparable" in gated.said
    against_it = compare(three, "--baseline", "fixed", "--fail-if", "ql_mean > 1.1*baseline")
    assert "fixed delivers next to nothing" in against_it.said
    compare(three, "--out", tmp_path / "out")
    strip = (tmp_path / "out" / "plots" / "dots-ql_mean.svg").read_text()
    assert strip.count("not comparable: delivers next to nothing") == 1
    assert "not comparable" not in (tmp_path / "out" / "plots" / "dots-su.svg").read_text()


# ---- the gate -------------------------------------------------------------------------------------------------------


def test_gate_passes_and_fails(compare: Command, three: Path) -> None:
    passed = compare(three, "--fail-if", "su < 0.8*baseline", "--fail-if", "drops > 0")
    assert (passed.code, passed.said) == (0, "")
    failed = compare(three, "--fail-if", "su < 0.9*baseline", "--format", "json")
    assert failed.code == 1
    assert failed.said.strip() == (
        "testbed: --fail-if 'su < 0.9*baseline': swift: su is 79.00 %, baseline (dcqcn) 91.00 %"
    )
    assert failed.json["gates"][0]["failures"][0]["variant"] == "swift"
    assert compare(three, "--baseline", "swift", "--fail-if", "su < 0.9*baseline").code == 0


def test_gate_never_passes_what_it_cannot_know(compare: Command, three: Path) -> None:
    done = compare(three, "--fail-if", "fct_p99 > 1*ms")
    assert done.code == 1
    assert "fct_p99 is not known" in done.said
    for run in ("a1", "a2", "a3"):  # all repeats of one: there is nothing to hold against
        assert compare(three / run, "--fail-if", "su < 0.9*baseline").code == 2
    assert compare(three / "a1", "--fail-if", "su < 50").code == 0


def test_degraded_runs_fail_a_gate_unless_they_are_allowed(compare: Command, three: Path) -> None:
    results(three / "b4", "swift", 4, su=79, fr_flows=95, ql_mean=9e-6, degraded=True)
    gate = ("--fail-if", "su < 0.5*baseline")
    done = compare(three, *gate)
    assert done.code == 1
    assert "1 of 4 runs of swift are degraded" in done.said
    assert compare(three, *gate, "--allow-degraded").code == 0
    assert compare(three, *gate, "--clean-only").code == 0
    results(three / "c1", "hpcc", 1, su=95, degraded=True)
    done = compare(three, *gate, "--clean-only")
    assert done.code == 1
    assert "hpcc has no clean run" in done.said
    hpcc = compare(three, "--clean-only", "--format", "json").json["variants"][2]
    assert (hpcc["runs"], hpcc["dominated_by"], hpcc["metrics"]["su"]["median"]) == ([], None, None)


def test_a_stored_folder_as_baseline(compare: Command, tmp_path: Path) -> None:
    for name, lower in (("main", 0), ("change", 20)):  # the same experiments, before and after
        for controller in ("dcqcn", "swift"):
            results(tmp_path / name / controller, controller, su=(95 if controller == "dcqcn" else 80) - lower)
    gate = ("--baseline", tmp_path / "main", "--fail-if", "su < 0.9*baseline")
    done = compare(tmp_path / "change", *gate)
    assert done.code == 1
    assert "dcqcn: su is 75.00 %, baseline (dcqcn, baseline) 95.00 %" in done.said
    assert "swift: su is 60.00 %, baseline (swift, baseline) 80.00 %" in done.said
    results(tmp_path / "good" / "a", "dcqcn", su=94)
    assert compare(tmp_path / "good", *gate).code == 0
    results(tmp_path / "new" / "a", "dcqcn", 1, "traffic.senders=2", su=94)
    done = compare(tmp_path / "new", *gate)
    assert done.code == 1
    assert "there is no baseline in its scenario" in done.said


def test_a_table_for_other_programs(compare: Command, three: Path, tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        results(three / f"c{seed}", "swift", seed, "controller.base_target=30 us", su=70.0, ql_mean=1e-6)
    assert compare(three, "--csv", tmp_path / "table.csv").code == 0
    with (tmp_path / "table.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["figure"] == "su"]
    assert [(row["controller"], row["median"], row["low"], row["high"], row["runs"]) for row in rows] == [
        ("dcqcn", "91.0", "90.0", "92.0", "3"), ("swift", "79.0", "78.0", "80.0", "3"),
        ("swift", "70.0", "70.0", "70.0", "3"),
    ]  # fmt: skip
    assert [row["controller.base_target"] for row in rows][2] == "30 us"
    assert [row["judged"] for row in rows] == ["", "worse", "worse"]
    nowhere = compare(three, "--csv", tmp_path / "no" / "table.csv")
    assert (nowhere.code, "No such file" in nowhere.said) == (2, True)


def test_unwritable_out(compare: Command, three: Path) -> None:
    done = compare(three, "--out", "/sys/kernel/out")
    assert done.code == 2
    assert "cannot be written" in done.said


# ---- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda run: (run / "manifest.json").unlink(), "it has no manifest.json"),
        (lambda run: (run / "summary.json").unlink(), "summary.json is missing"),
        (lambda run: os.truncate(run / "summary.json", 100), "summary.json is cut short or damaged"),
        (lambda run: os.truncate(run / "port_series.parquet", 1000), "port_series.parquet is cut short"),
        (lambda run: (run / "manifest.json").write_text('{"schema_version": 99}'), "schema version 99"),
    ],
)
def test_a_run_that_is_not_whole(compare: Command, three: Path, damage: Any, says: str) -> None:
    damage(three / "b2")
    done = compare(three)
    assert done.code == 2
    assert says in done.said
    assert str(three / "b2") in done.said
    assert done.out == ""


def test_nothing_to_compare(compare: Command, tmp_path: Path) -> None:
    assert "no results folder at" in compare(tmp_path / "nowhere").said
    done = compare(tmp_path)
    assert done.code == 2
    assert "is not a results folder" in done.said
    assert compare().code == 2


def test_unknown_baseline_and_bad_condition(compare: Command, three: Path) -> None:
    done = compare(three, "--baseline", "swft")
    assert done.code == 2
    assert "did you mean 'swift'?" in done.said
    done = compare(three, "--fail-if", "__import__('os')")
    assert done.code == 2
    assert "Traceback" not in done.said


def test_runs_that_were_not_at_rest_are_marked(compare: Command, three: Path) -> None:
    rising = "throughput of the bottleneck rises from 40 Gbit/s to 46 Gbit/s"
    results(three / "b4", "swift", 4, su=79, fr_flows=95, ql_mean=9e-6, unrest=rising)  # type: ignore[arg-type]
    done = compare(three)
    assert "4 runs, 1 not" in done.text
    assert "at rest" in done.text
