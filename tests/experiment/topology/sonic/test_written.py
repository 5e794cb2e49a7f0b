"""A switch, written as SONiC's tables and read again, is the same switch."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from testbed.errors import BadInput
from testbed.experiment.topology.any_rack import Switch
from testbed.experiment.topology.links import LinkSettings
from testbed.experiment.topology.queues import OwnRed
from testbed.experiment.topology.sonic import config, entries
from testbed.experiment.topology.sonic.taken import Taken, taken
from testbed.experiment.topology.sonic.written import numbered, numbered_ports, written

PORT = ["Ethernet0"]
RED = OwnRed.model_validate({"kmin": "100 kB", "kmax": "400 kB", "pmax": "20 %"})
bytes_ = st.integers(0, 1 << 40).map(lambda size: f"{size} B")
alphas = st.integers(-8, 7).map(lambda exponent: 2.0**exponent)
thresholds = st.one_of(st.just({}), alphas.map(lambda alpha: {"alpha": alpha}))


@st.composite
def reds(draw: st.DrawFn) -> dict[str, Any]:
    low, high = sorted(draw(st.tuples(st.integers(0, 1 << 30), st.integers(0, 1 << 30))))
    red = {"kmin": f"{low} B", "kmax": f"{high} B", "pmax": f"{draw(st.integers(0, 100))} %"}
    return {"red": red, "wred": draw(st.booleans())}


@st.composite
def queues(draw: st.DrawFn, *, shared: bool) -> dict[str, Any]:
    turn = draw(st.one_of(st.just({"schedule": "strict"}), st.integers(1, 100).map(lambda one: {"weight": one})))
    found = {**turn, **draw(st.one_of(st.just({"red": "off"}), reds()))}
    if shared:
        found |= draw(st.one_of(thresholds, bytes_.map(lambda size: {"static": size})))
        found["reserved"] = draw(bytes_)
    return found


@st.composite
def groups(draw: st.DrawFn, *, shared: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"pfc": draw(st.booleans())}
    if shared:
        found |= draw(st.one_of(thresholds, bytes_.map(lambda size: {"xoff": size})))
        found["reserved"] = draw(bytes_)
        for key in ("xon", "xon_offset", "headroom") if found["pfc"] else ():
            found |= draw(st.one_of(st.just({}), bytes_.map(lambda size, key=key: {key: size})))
    return found


@st.composite
def switches(draw: st.DrawFn) -> Switch:
    names = draw(st.lists(st.from_regex(r"[a-z]{1,3}|tc[0-9]", fullmatch=True), min_size=1, max_size=8, unique=True))
    owner = draw(st.lists(st.integers(-1, len(names) - 1), min_size=64, max_size=64))
    owner = [*range(len(names)), *owner[len(names) :]]  # every class has a DSCP
    classes = {
        name: {
            "dscp": [dscp for dscp, one in enumerate(owner) if one == number],
            "queue": draw(st.integers(0, 7)),
            "group": draw(st.one_of(st.none(), st.integers(0, 7))),
        }
        for number, name in enumerate(names)
    }
    shared = draw(st.booleans())
    used = {one["queue"] for one in classes.values()}
    found: dict[str, Any] = {
        "classes": classes,
        "default_class": draw(st.sampled_from(names)),
        "queues": {number: draw(queues(shared=shared)) for number in used},
        "groups": {
            number: draw(groups(shared=shared))
            for number in {one["queue"] if one["group"] is None else one["group"] for one in classes.values()}
        },
    }
    if shared:
        found["pool"] = {"size": f"{draw(st.integers(1, 1 << 40))} B", "headroom": draw(bytes_)}
    if draw(st.booleans()):
        times = {key: f"{draw(st.integers(1, 60_000))} ms" for key in ("detection", "restoration")}
        found["watchdog"] = {"action": draw(st.sampled_from(["drop", "forward"])), **times}
    return Switch.model_validate(found)


def read_again(tables: dict[str, Any]) -> Taken:
    return taken(config.typed(entries.parse(json.dumps(tables), "f.json", config.TABLES)))


def behaviour(switch: Switch) -> Any:
    """All of a switch but the names of its classes."""
    classes = switch.tables
    assert classes is not None
    said = {number: group for number, group in switch.groups.items() if group != type(group)()}
    return (
        classes.queue_of,
        [classes.group[one] for one in classes.class_of],
        [classes.class_of.index(one) for one in classes.class_of],  # which DSCPs are alike
        dict(classes.queues), said, switch.pool, switch.watchdog,
    )  # fmt: skip


@given(switches())
def test_it_is_the_same_switch(switch: Switch) -> None:
    found = read_again(written(switch, LinkSettings(), numbered_ports(3), dict.fromkeys(range(8), RED)))
    assert behaviour(Switch.model_validate(found.switch)) == behaviour(switch)
    assert not [line for line in found.told if "not understood" in line]


@given(st.integers(1, 10**6), st.integers(1, 400))
def test_the_link_is_the_same(megabits: int, metres: int) -> None:
    link = LinkSettings.model_validate({"rate": f"{megabits} Mbit/s", "delay": f"{5 * metres} ns"})
    found = LinkSettings.model_validate(read_again(written(plain(), link, PORT, {})).link)
    assert (found.rate, found.delay) == (link.rate, pytest.approx(link.delay, rel=1e-12))


def plain(**keys: Any) -> Switch:
    return Switch.model_validate({"classes": {"bulk": {"dscp": 26, "queue": 3}}, **keys})


def test_a_queue_whose_tuner_decides_has_its_first_thresholds() -> None:
    profile = written(plain(), LinkSettings(), PORT, {3: RED})["WRED_PROFILE"]["WRED_Q3"]
    assert (profile["green_min_threshold"], profile["green_drop_probability"]) == ("100000", "20")
    assert "WRED_PROFILE" not in written(plain(), LinkSettings(), PORT, {})


def test_every_port_has_it_under_the_name_that_sonic_gives() -> None:
    found = written(
        plain(), LinkSettings.model_validate({"rate": "400 Gbit/s", "delay": "200 ns"}), ["Ethernet0", "Ethernet4"], {}
    )
    assert found["PORT"] == {"Ethernet0": {"speed": "400000"}, "Ethernet4": {"speed": "400000"}}
    assert [*found["QUEUE"]] == ["Ethernet0|3", "Ethernet4|3"]
    assert found["CABLE_LENGTH"] == {"AZURE": {"Ethernet0": "40m", "Ethernet4": "40m"}}


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"queues": {3: {"weight": 101}}}, "rack.switch.queues.3.weight: 101; SONiC has 1 to 100"),
        (
            {"queues": {3: {"red": {"kmin": "1 kB", "kmax": "2 kB", "pmax": "0.5 %"}}}},
            "rack.switch.queues.3.red.pmax: 0.5 %; SONiC has whole numbers of %",
        ),
        (
            {"queues": {3: {"alpha": 3}}, "pool": {"size": "1 MB"}},
            "rack.switch.queues.3.alpha: 3; SONiC has powers of 2 from 1/256 to 128",
        ),
        ({"groups": {3: {"pfc": "on", "xoff": "1 MB"}}}, "rack.switch.groups.3: SONiC has its sizes in a profile"),
        ({"trim": "on"}, "rack.switch.trim: SONiC says it in profiles of a pool"),
        ({"watchdog": {"detection": "10 us"}}, "rack.switch.watchdog.detection: 0.01 ms; SONiC has whole numbers"),
    ],
)
def test_what_sonic_cannot_say_is_refused(keys: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput) as raised:
        written(plain(**keys), LinkSettings(), PORT, {})
    assert problem in str(raised.value)


TRIMMED: dict[str, Any] = {"trim": {"size": "256 B", "dscp": 9, "queue": 6}, "pool": {"size": "1 MB"}}


def test_trimming_is_the_same() -> None:
    tables = written(plain(**TRIMMED), LinkSettings(), PORT, {})
    assert tables["SWITCH_TRIMMING"] == {"GLOBAL": {"size": "256", "dscp_value": "9", "queue_index": "6"}}
    assert tables["BUFFER_PROFILE"]["queue3"]["packet_discard_action"] == "trim"
    found = read_again(tables)
    assert Switch.model_validate(found.switch).trim == plain(**TRIMMED).trim
    assert not [line for line in found.told if "not understood" in line]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"dscp_value": "from-tc", "tc_value": "6"}, "here it needs size, dscp_value and queue_index as numbers"),
        ({"queue_index": "dynamic"}, "here it needs size, dscp_value and queue_index as numbers"),
        ({"queue_index": "5"}, "DSCP 9 waits in queue 6 of the next switch"),
        ({"size": "1024"}, "size 1024, and here it is 80 to 512"),
    ],
)
def test_trimming_that_is_not_there_is_told(change: dict[str, str], told: str) -> None:
    tables = written(plain(**TRIMMED), LinkSettings(), PORT, {})
    tables["SWITCH_TRIMMING"]["GLOBAL"] |= change
    found = read_again(tables)
    assert "trim" not in found.switch
    assert [line for line in found.told if told in line]


def test_a_plain_switch_has_nothing_to_write() -> None:
    with pytest.raises(BadInput, match="one plain queue per port"):
        written(Switch(), LinkSettings(), PORT, {})


def test_classes_keep_their_number_or_get_that_of_their_queue() -> None:
    assert numbered(["a", "tc3", "b", "c"], [3, 5, 2, 2]) == [0, 3, 2, 1]


def test_shares_need_a_pool() -> None:
    with pytest.raises(ValidationError, match=r"say rack\.switch\.pool"):
        plain(queues={3: {"alpha": 1}})
