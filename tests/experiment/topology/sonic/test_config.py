"""Files that are broken, or meant to break: one line with file, table and key."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.errors import BadInput
from testbed.experiment.topology.sonic import config, entries
from testbed.experiment.topology.sonic.taken import taken

BROKEN = [
    ("", "line 1: not valid JSON"),
    ("[]", "expected an object of tables, as in config_db.json, got a list"),
    ("null", "got null"),
    ('{"QUEUE": []}', "QUEUE: expected an object of entries, got a list"),
    ('{"QUEUE": {"Ethernet0|3": "x"}}', "QUEUE|Ethernet0|3: expected an object of fields, got text"),
    ('{"QUEUE": {"Ethernet0": {}}}', "QUEUE|Ethernet0: expected a port and a number in the key"),
    ('{"QUEUE": {"|3": {}}}', "QUEUE||3: the key names no port"),
    ('{"QUEUE": {"Ethernet0|4-3": {}}}', "QUEUE|Ethernet0|4-3: '4-3' is no range"),
    ('{"QUEUE": {"Ethernet0|0-99999999999": {}}}', "expected a number from 0 to 63, got 99999999999"),
    ('{"QUEUE": {"Ethernet0|3": {"scheduler": "s"}}, "SCHEDULER": {}}', "scheduler: 's' is not in SCHEDULER"),
    ('{"QUEUE": {"Ethernet0|3": {"scheduler": "[PORT|s]"}}}', "scheduler: names the table PORT; expected SCHEDULER"),
    ('{"QUEUE": {"Ethernet0|3": {"scheduler": null}}}', "scheduler: expected text, got null"),
    ('{"QUEUE": {"Ethernet0|3": {"scheduler": {"a": 1}}}}', "scheduler: expected text, got an object"),
    ('{"SCHEDULER": {"s": {"type": "DWRRR"}}}', "SCHEDULER|s: type: 'DWRRR' is not allowed; did you mean 'DWRR'?"),
    ('{"SCHEDULER": {"s": {"weight": "0"}}}', "SCHEDULER|s: weight: expected a number from 1 to 100, got 0"),
    ('{"SCHEDULER": {"s": {"weight": "1e9"}}}', "SCHEDULER|s: weight: expected a whole number, got '1e9'"),
    ('{"SCHEDULER": {"s": {"weight": "\u0661"}}}', "expected a whole number"),
    ('{"SCHEDULER": {"s": {"weight": NaN}}}', "NaN is no number"),
    ('{"WRED_PROFILE": {"w": {"ecn": "ecn_all"}}}', "WRED_PROFILE|w: green_max_threshold: is missing; expected bytes"),
    (
        '{"WRED_PROFILE": {"w": {"green_min_threshold": "9", "green_max_threshold": "8"}}}',
        "WRED_PROFILE|w: green_min_threshold: expected at most green_max_threshold (8), got 9",
    ),
    ('{"DSCP_TO_TC_MAP": {"M": {"64": "0"}}}', "DSCP_TO_TC_MAP|M: 64: expected a number from 0 to 63, got 64"),
    ('{"TC_TO_QUEUE_MAP": {"M": {"0": "64"}}}', "TC_TO_QUEUE_MAP|M: 0: expected a number from 0 to 63, got 64"),
    ('{"BUFFER_PROFILE": {"b": {"dynamic_th": "9"}}}', "dynamic_th: expected a number from -8 to 7, got 9"),
    ('{"BUFFER_PROFILE": {"b": {"dynamic_th": "1", "static_th": "1"}}}', "static_th: contradicts dynamic_th"),
    ('{"BUFFER_POOL": {"p": {"size": "-1"}}}', "BUFFER_POOL|p: size: expected a number from 0"),
    ('{"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3;4"}}}', "pfc_enable: expected a whole number, got '3;4'"),
    ('{"PFC_WD": {"Ethernet0": {"action": "drop"}}}', "PFC_WD|Ethernet0: detection_time: is missing"),
    ('{"CABLE_LENGTH": {"AZURE": {"Ethernet0": "5 ft"}}}', "Ethernet0: expected a length in metres such as 5m"),
    ('{"QUEUE|Ethernet0|0": {}, "QUEUE": {"Ethernet0|0": {}}}', "QUEUE|Ethernet0|0: is given twice"),
    ('{"QUEUE": {"Ethernet0|\\u001b": {}}}', "expected a whole number, got '\\x1b'"),
    ('{"a": ' * 100_000, "nested too deeply"),
    ('{"SCHEDULER": {"s": {"weight": ' + "1" * 5000 + "}}}", "not valid JSON"),
]


@pytest.mark.parametrize(("text", "problem"), BROKEN, ids=range(len(BROKEN)))
def test_one_line_says_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(BadInput) as raised:
        config.typed(entries.parse(text, "f.json", config.TABLES))
    said = str(raised.value)
    assert said.startswith("f.json")
    assert problem in said
    assert "\n" not in said


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot read .*No such file"):
        config.read(tmp_path / "none.json")
    with pytest.raises(BadInput, match=r"cannot read .*Is a directory"):
        config.read(tmp_path)
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(BadInput, match="it is not UTF-8 text"):
        config.read(tmp_path / "binary.json")
    with pytest.raises(BadInput, match="cannot read /dev/zero: it is no plain file"):
        config.read(Path("/dev/zero"))
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(entries.MOST_BYTES + 1)
    with pytest.raises(BadInput, match="larger than 64 MiB"):
        config.read(huge)


def test_other_tables_may_hold_anything() -> None:
    found = config.typed(entries.parse('{"ACL": [1], "NTP": null, "VLAN|a": 3}', "f.json", config.TABLES))
    assert found.left == ["tables ACL, NTP, VLAN"]


def test_a_port_of_a_chassis_is_known_by_its_own_name() -> None:
    text = '{"QUEUE": {"card1|asic0|Ethernet0|3": {}}}'
    assert config.typed(entries.parse(text, "f.json", config.TABLES)).names == ["Ethernet0"]


def test_a_port_inside_of_a_switch_has_no_link() -> None:
    text = '{"PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet-BP0": {"speed": "400000", "role": "Int"}}}'
    assert config.typed(entries.parse(text, "f.json", config.TABLES)).speeds == {"Ethernet0": 100e9}


values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4), st.sampled_from(["3", "-1", "a"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=3,
)
names = st.sampled_from(["Ethernet0|3", "Ethernet0", "Ethernet0,Ethernet4|0-9", "global", "3", "64", "|", ""])
fields = st.sampled_from(
    ["scheduler", "wred_profile", "profile", "pool", "size", "type", "weight", "ecn", "dynamic_th", "static_th", "xoff",
     "green_max_threshold", "pfc_enable", "dscp_to_tc_map", "speed", "Ethernet0", "detection_time", "3"]
)  # fmt: skip
some_entries = st.dictionaries(names, st.one_of(values, st.dictionaries(fields, values, max_size=3)), max_size=2)


@given(st.dictionaries(st.sampled_from([*config.TABLES, "ACL"]), st.one_of(values, some_entries), max_size=3))
def test_whatever_a_file_holds_is_read_or_refused(tables: dict[str, object]) -> None:
    with contextlib.suppress(BadInput):
        taken(config.typed(entries.parse(json.dumps(tables), "f.json", config.TABLES)))
