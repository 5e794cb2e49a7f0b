"""What an experiment takes of a configuration in SONiC's format: ours, with all that such files have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testbed.experiment.topology.sonic import config, entries
from testbed.experiment.topology.sonic.taken import Taken, taken

FILE = Path(__file__).parent / "switch.json"


@pytest.fixture(scope="module")
def found() -> Taken:
    return Taken.of(FILE)


def taken_of(**tables: dict[str, Any]) -> Taken:
    import json

    return taken(config.typed(entries.parse(json.dumps(tables), "f.json", config.TABLES)))


def test_classes_queues_and_groups_are_those_of_most_ports(found: Taken) -> None:
    switch = found.switch
    assert switch["classes"]["tc3"] == {"dscp": [3], "queue": 3, "group": 3}
    assert switch["classes"]["tc5"] == {"dscp": [46], "queue": 5, "group": 0}
    assert len(switch["classes"]["tc0"]["dscp"]) == 60  # all that the map does not name
    assert switch["queues"]["0"] == {
        "schedule": "dwrr", "weight": 14, "red": "off", "reserved": "1.518 kB", "alpha": 8.0,
    }  # fmt: skip
    assert switch["queues"]["4"] == {
        "schedule": "dwrr", "weight": 15, "static": "12 MB", "wred": "on",
        "red": {"kmin": "1.048576 MB", "kmax": "2.097152 MB", "pmax": 0.05},
    }  # fmt: skip
    assert switch["queues"]["6"] == {"schedule": "strict", "red": "off"}
    assert switch["groups"] == {
        number: {
            "pfc": "on", "reserved": "18 kB", "alpha": 0.125, "headroom": "90 kB", "xon": "18 kB",
            "xon_offset": "2.496 kB",
        }
        for number in ("3", "4")
    }  # fmt: skip
    assert switch["pool"] == {"size": "12 MB", "headroom": "2 MB"}
    assert switch["watchdog"] == {"action": "drop", "detection": "200 ms", "restoration": "400 ms"}
    assert found.link == {"rate": "100 Gbit/s", "delay": "200 ns"}


def test_what_is_not_understood_is_named_once_with_table_and_key(found: Taken) -> None:
    said = [line.removeprefix(f"{FILE}: ") for line in found.told]
    assert said[0].endswith("as Ethernet0 has it and 1 more; 1 differ and are left out: Ethernet8")
    assert said[1:] == [
        "BUFFER_POOL|ingress_lossless_pool: the one pool here; sizes that bind nothing: egress_lossy_pool of 7 MB",
        "not understood: SCHEDULER|scheduler.1: pir",
        "not understood: WRED_PROFILE|AZURE_LOSSLESS: yellow_max_threshold",
        "not understood: PFC_WD|GLOBAL: POLL_INTERVAL",
        "not understood: PORT|Ethernet0 (and 2 more): lanes",
        "not understood: tables VLAN, CRM",
    ]


def test_a_port_without_maps_has_one_class() -> None:
    switch = taken_of(QUEUE={"Ethernet0|0": {}}).switch
    assert switch["classes"] == {"tc0": {"dscp": list(range(64)), "queue": 0, "group": 0}}
    assert switch["queues"] == {"0": {"schedule": "dwrr", "weight": 1, "red": "off"}}


def test_a_map_that_all_ports_have() -> None:
    every = {"global": {"dscp_to_tc_map": "M"}, "Ethernet0": {"pfc_enable": "3"}}
    switch = taken_of(DSCP_TO_TC_MAP={"M": {"9": "3"}}, PORT_QOS_MAP=every).switch
    assert switch["classes"]["tc3"] == {"dscp": [9], "queue": 3, "group": 3}
    assert switch["groups"] == {"3": {"pfc": "on", "headroom": "auto"}}


RED = {"green_min_threshold": "1000", "green_max_threshold": "2000"}


@pytest.mark.parametrize(
    ("profile", "queue"),
    [
        ({**RED, "ecn": "ecn_all", "wred_green_enable": "true"}, ("on", 1.0)),
        ({**RED, "ecn": "ecn_green", "green_drop_probability": "20"}, ("off", 0.2)),
        ({**RED, "ecn": "ecn_none", "wred_green_enable": "true"}, None),
        ({**RED, "wred_green_enable": "false"}, None),
    ],
)
def test_marking_and_dropping_are_two_things(profile: dict[str, str], queue: tuple[str, float] | None) -> None:
    switch = taken_of(WRED_PROFILE={"w": profile}, QUEUE={"Ethernet0|0": {"wred_profile": "w"}}).switch["queues"]["0"]
    if queue is None:
        assert switch["red"] == "off"
        assert "wred" not in switch
    else:
        assert (switch["wred"], switch["red"]["pmax"]) == queue


@pytest.mark.parametrize(
    ("tables", "note"),
    [
        ({"SCHEDULER": {"s": {"type": "WRR"}}, "QUEUE": {"Ethernet0|0": {"scheduler": "s"}}}, "in packets"),
        (
            {"WRED_PROFILE": {"w": {**RED, "wred_green_enable": "true"}}, "QUEUE": {"e|0": {"wred_profile": "w"}}},
            "drops without ECN",
        ),
        ({"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"}}}, "pfc_enable 3: no class has this priority"),
        ({"TC_TO_QUEUE_MAP": {"M": {"0": "9"}}, "QUEUE": {"e|9": {}}}, "0 waits in queue 9 there, here in the last"),
        ({"QUEUE": {"Ethernet0|0-3": {}}}, "QUEUE|Ethernet0|1,2,3: no class comes into it"),
        ({"PFC_WD": {"e": {"action": "alert", "detection_time": "200"}}, "QUEUE": {"e|0": {}}}, "'alert'"),
        ({"DSCP_TO_TC_MAP": {"M": {"3": "3"}}, "MAP_PFC_PRIORITY_TO_QUEUE": {"P": {"3": "4"}},
          "PORT_QOS_MAP": {"e": {"dscp_to_tc_map": "M", "pfc_to_queue_map": "P", "pfc_enable": "3"}}},
         "priority 3 pauses queue 4 there; here it pauses the queues of its group: 3"),
    ],
)  # fmt: skip
def test_what_a_switch_here_cannot_be_is_said(tables: dict[str, Any], note: str) -> None:
    assert any(note in line for line in taken_of(**tables).told)


def test_the_headroom_that_a_switch_computes_is_computed_here() -> None:
    profile = {"pool": "p", "headroom_type": "dynamic", "dynamic_th": "0", "size": "0"}
    found = taken_of(
        DSCP_TO_TC_MAP={"M": {"3": "3"}},
        PORT_QOS_MAP={"e": {"dscp_to_tc_map": "M", "pfc_enable": "3"}},
        BUFFER_POOL={"p": {"type": "both", "size": "100"}},
        BUFFER_PROFILE={"b": profile},
        BUFFER_PG={"e|3": {"profile": "b"}},
    )
    assert found.switch["groups"] == {"3": {"pfc": "on", "alpha": 1.0, "headroom": "auto"}}
    assert not [line for line in found.told if "no xoff" in line]


def test_a_lossless_profile_that_the_switch_makes_is_no_mistake() -> None:
    found = taken_of(
        DSCP_TO_TC_MAP={"M": {"3": "3"}},
        PORT_QOS_MAP={"e": {"dscp_to_tc_map": "M", "pfc_enable": "3"}},
        BUFFER_PROFILE={"other": {"size": "0"}},
        BUFFER_PG={"e|3": {"profile": "pg_lossless_400000_40m_profile"}},
    )
    assert found.switch["groups"] == {"3": {"pfc": "on", "headroom": "auto"}}
    assert any("BUFFER_PG|e|3: no xoff" in line for line in found.told)


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        (tmp_path / "f.json").write_text(text)
        return tmp_path / "f.json"

    return write


def test_a_dump_of_the_database_is_the_same_file(written: Callable[[str], Path]) -> None:
    text = '{"SCHEDULER|s": {"type": "hash", "value": {"type": "STRICT"}}, "QUEUE|Ethernet0|0": {"scheduler": "s"}}'
    assert Taken.of(written(text)).switch["queues"]["0"]["schedule"] == "strict"


def test_of_two_alike_the_last_holds_and_it_is_said(written: Callable[[str], Path]) -> None:
    text = '{"SCHEDULER": {"s": {"weight": "1"}, "s": {"weight": "2"}}, "QUEUE": {"Ethernet0|0": {"scheduler": "s"}}}'
    found = Taken.of(written(text))
    assert found.switch["queues"]["0"]["weight"] == 2
    assert any("'s' is there twice: the last one holds" in line for line in found.told)
