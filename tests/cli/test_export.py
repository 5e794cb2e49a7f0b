"""`testbed export switch`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import command
from tests.support.recorded import mine, written


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["switch", "--to", "sonic"], "export switch: which experiment?"),
        (["switch", "incast-8", "--to", "sonik"], "--to sonik: not known; did you mean 'sonic'?"),
        (["switch", "incast-8", "--to", "sonic"], "rack.switch: has one plain queue per port"),
        (["switch", "incast-8", "--to", "sonic", "--dry-run"], "takes --to, --set and --ports,"),
        (["dcqcn", "--to", "c", "--ports", "Ethernet0"], "--ports Ethernet0: is for 'export switch'"),
        (["swift", "incast-8", "--to", "c"], "export swift incast-8: expected one name"),
        (["results", "--to", "fct"], "export results: which run?"),
        (["results", "nowhere", "--to", "fct"], "nowhere"),
        (["results", "nowhere", "--to", "fcd"], "--to fcd: not known; did you mean 'fct'?"),
        (["results", "nowhere", "--to", "astra-sim"], "no results folder at nowhere"),
        (["results", "nowhere", "--to", "csv"], "expected --out, a new folder for the tables"),
    ],
)
def test_it_is_refused(arguments: list[str], problem: str) -> None:
    ended = command("export", *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert problem in ended.stderr


def test_a_broken_configuration_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text('{"SCHEDULER": {"s": {"type": "x"}}}')
    ended = command("show", "incast-8", "--set", f"rack.switch.config={tmp_path}/f.json")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"testbed: --set rack.switch.config={tmp_path}/f.json: rack.switch.config: {tmp_path}/f.json: SCHEDULER|s: "
        "type: 'x' is not allowed; allowed: DWRR, STRICT, WRR\n"
    )


def test_the_switch_of_an_experiment_and_back(tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(
        "traffic: {pattern: incast, senders: 2}\ncontroller: dcqcn\nrack:\n  switch:\n    classes:\n"
        "      data: {dscp: 26, queue: 3}\n      rest: {dscp: [0-25, 27-63], queue: 5}\n"
        "    queues: {5: {schedule: strict, red: 'off'}}\n"
    )
    asked = ["export", "switch", str(file), "--to", "sonic", "--ports", "Ethernet8,Ethernet16"]
    tables = json.loads(command(*asked).stdout)
    assert tables["DSCP_TO_TC_MAP"]["AZURE"]["26"] == "3"
    assert tables["SCHEDULER"]["scheduler.strict"] == {"type": "STRICT"}
    assert tables["WRED_PROFILE"]["WRED_Q3"]["green_max_threshold"] == "1600000"  # the tuner's first
    assert [*tables["PORT"]] == ["Ethernet8", "Ethernet16"]
    (tmp_path / "config_db.json").write_text(json.dumps(tables))
    again = ["show", "incast-2", "--engine", "virtual", "--set", f"rack.switch.config={tmp_path}/config_db.json"]
    shown = command(*again, "--format", "json")
    switch = json.loads(shown.stdout)["rack"]["switch"]
    assert switch["queues"]["5"]["schedule"] == "strict"
    assert switch["config"] is None
    assert shown.stderr == (
        f"{tmp_path}/config_db.json: took DSCP_TO_TC_MAP, TC_TO_QUEUE_MAP, TC_TO_PRIORITY_GROUP_MAP, "
        "MAP_PFC_PRIORITY_TO_QUEUE, SCHEDULER, WRED_PROFILE, QUEUE, PORT_QOS_MAP, PORT, CABLE_LENGTH of 2 ports, "
        "which are alike\n"
    )


def test_a_run_whose_flows_all_go_on(tmp_path: Path) -> None:
    run, out = written(tmp_path / "run", mine(tmp_path)), tmp_path / "flows.txt"
    ended = command("export", "results", str(run), "--to", "htsim", "--out", str(out))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"testbed: {run}: no flow has completed, and --to htsim is of those that have\n"
    assert not out.exists()
