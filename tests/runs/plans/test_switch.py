"""Plans with a switch that a config_db.json describes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from testbed.runs.plans.case import TestPlan
from testbed.runs.plans.follow import examine
from testbed.runs.plans.rocev2 import PLAN
from testbed.runs.plans.switch import NotApplicable, Switch, of_config
from tests.support.checkout import ROOT

CONFIG = ROOT / "docs/advice/config_db-400g.json"


def test_queues_are_what_its_tables_say() -> None:
    switch, told = of_config(CONFIG)
    assert (switch.rate, switch.lossless, switch.lossy, switch.marked) == (400e9, (3, 4), (0,), (3, 4))
    assert (switch.acks, switch.cnps, switch.strict(6), switch.weight(3)) == (6, 5, True, 15)
    assert (switch.threshold(3, "kmin"), switch.link["delay"]) == (1048576, "200 ns")
    assert "took DSCP_TO_TC_MAP" in told[0]
    with pytest.raises(NotApplicable, match="queues of this switch that are lossy: 1; needed: 3"):
        switch.need(lossy=3)
    assert switch.at(100e9).link["rate"] == "100 Gbit/s"


def test_the_plans_own_switch_has_all_that_cases_need() -> None:
    own = Switch.own(100e9)
    assert (own.lossless, own.lossy, own.marked, own.acks, own.cnps) == ((3, 4), (0, 1, 2), (3, 4), 6, 5)
    assert [own.dscp(one) for one in range(7)] == [8, 9, 10, 3, 4, 48, 46]
    assert own.alone(6, "ACKs") == ""


@pytest.fixture
def poorer(tmp_path: Path) -> Switch:
    """ACKs with the rest, and only priority 3 is lossless."""
    tables = json.loads(CONFIG.read_text())
    for one in tables["PORT_QOS_MAP"].values():
        one["pfc_enable"] = "3"
    for one in tables["DSCP_TO_TC_MAP"].values():
        one["46"] = "0"
    file = tmp_path / "config_db.json"
    file.write_text(json.dumps(tables))
    return of_config(file)[0]


def test_what_a_switch_does_not_have_does_not_apply(poorer: Switch) -> None:
    cases = {case.key: case for case in PLAN.cases}
    assert [(one.name, one.missing) for one in cases["2"].trials(poorer)] == [
        ("a: two ranks in 3", ""),
        ("b: ranks in two queues", "this switch has one lossless queue"),
        ("c: ranks in two queues", "this switch has one lossless queue"),
    ]
    (acks,) = [one for one in cases["1"].trials(poorer)[0].expectations if "ACKs" in one.says]
    assert acks.missing == "ACKs share queue 0 with others on this switch"
    lossy = replace(poorer, tables={**poorer.tables, "groups": {}})
    (outcome,) = examine(TestPlan("mine", "", "", [cases["2"]]), [lossy])
    assert (outcome.word, outcome.missing) == ("not run", "queues of this switch that are lossless: 0; needed: 1")
