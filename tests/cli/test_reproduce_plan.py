"""`testbed reproduce` of a test plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.commands import command


def test_a_case_is_run_and_written(tmp_path: Path) -> None:
    switch = str(ROOT / "docs/advice/config_db-400g.json")
    asked = ["sonic-ecn", "--row", "interference", "--switch", switch, "--out", str(tmp_path / "plan")]
    ended = command("reproduce", *asked, "--format", "json")
    assert ended.returncode == 0, ended.stderr
    data = json.loads(ended.stdout)
    assert (data["result"], data["switch"]) == ("pass", switch)
    assert "took DSCP_TO_TC_MAP" in ended.stderr
    assert {run["case"] for run in data["runs"]} == {"interference"}
    assert data == json.loads((tmp_path / "plan/plan.json").read_text())
    assert ended.stderr.endswith(f"page: {tmp_path}/plan/plan.html\n")


@pytest.mark.root
@pytest.mark.measures
def test_a_case_with_real_packets(tmp_path: Path) -> None:
    asked = ["sonic-ecn", "--row", "response", "--column", "100 Gbit/s", "--out", str(tmp_path / "plan")]
    ended = command("reproduce", *asked, "--engine", "kernel", "--format", "json")
    data = json.loads(ended.stdout)
    (run,) = data["runs"]
    assert (data["engine"], run["dilation"] > 1) == ("kernel", True)
    assert all(one["passed"] for one in run["expectations"])
    assert ended.returncode == (1 if run["broken"] else 0)  # a run that this machine has disturbed proves nothing


def test_nothing_that_ran_is_no_success(tmp_path: Path) -> None:
    tables = json.loads((ROOT / "docs/advice/config_db-400g.json").read_text())
    for port in tables["PORT_QOS_MAP"].values():
        port.pop("pfc_enable", None)
    switch = tmp_path / "lossy.json"
    switch.write_text(json.dumps(tables))
    ended = command("reproduce", "sonic-rocev2", "--row", "5", "--switch", str(switch), "--out", str(tmp_path / "plan"))
    assert ended.returncode == 1
    assert ended.stdout.splitlines()[-1] == "0 pass, 0 fail, 1 not run"


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        (["--row", "12"], "--row 12: not in this plan; "),
        (["--column", "40 Gbit/s"], "--column 40 Gbit/s: not in this plan; did you mean '400 Gbit/s'?"),
        (["--engine", "fluid"], "--engine fluid: has no packets, which 'sonic-rocev2' looks at; say virtual or kernel"),
        (["--switch", "/nowhere.json"], "/nowhere.json"),
        (["--no-run"], "--no-run: is for published comparisons, and 'sonic-rocev2' is a test plan"),
        (["--format", "csv"], "--format csv: is for published comparisons; a test plan has text and json"),
    ],
)
def test_what_a_plan_does_not_have_is_refused(option: list[str], problem: str) -> None:
    ended = command("reproduce", "sonic-rocev2", *option)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert problem in ended.stderr


def test_plans_are_listed() -> None:
    listed = command("reproduce").stdout
    assert "sonic-rocev2" in listed
    assert "sonic-ecn" in listed
