"""Trust, DSCP map and limits, through both tools that change them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.emulated_lab import control
from tests.emulated_lab.conftest import MakeStore
from tests.emulated_lab.fakes import dcb, mlnx_qos
from tests.emulated_lab.store import Store

IF = "enp3s0f0np0"


@pytest.fixture(autouse=True)
def no_lldpad(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it runs is asked of process 1."""
    monkeypatch.setattr(control, "ask", lambda _order: {"ActiveState": "inactive"})


def app(store: Store, *words: str) -> int:
    return dcb.main(["app", words[0], "dev", IF, *words[1:]], store)


def shown(store: Store, capsys: pytest.CaptureFixture[str], thing: str) -> dict[str, Any]:
    capsys.readouterr()
    assert dcb.main(["-j", thing, "show", "dev", IF], store) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_first_and_last_entry_switch_trust(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("bf3")
    assert store.read()["qos"]["trust"] == "pcp"
    app(store, "add", "dscp-prio", "26:3")
    assert store.read()["qos"]["trust"] == "dscp"
    assert shown(store, capsys, "app") == {"dscp_prio": [[26, 3]]}
    app(store, "del", "dscp-prio", "26:3")
    assert store.read()["qos"]["trust"] == "pcp"


def test_with_trust_set_directly_all_64_are_there_and_one_delete_is_not_enough(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str]
) -> None:
    store = make_store("bf3")
    assert mlnx_qos.main(["-i", IF, "--trust", "dscp"], store) == 0
    assert len(shown(store, capsys, "app")["dscp_prio"]) == 64
    app(store, "del", "dscp-prio", "26:3")
    assert store.read()["qos"]["trust"] == "dscp"
    app(store, "flush")
    assert store.read()["qos"]["trust"] == "pcp"


def test_replace_complains_and_exits_0_and_is_right(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("bf3")
    app(store, "add", "dscp-prio", "26:3")
    assert app(store, "replace", "dscp-prio", "26:4") == 0
    assert "No such file or directory" in capsys.readouterr().err
    assert shown(store, capsys, "app") == {"dscp_prio": [[26, 4]]}


def test_exit_code_is_0_when_an_entry_was_refused(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("bf3")
    with store.edit() as state:
        state["faults"]["files"]["dscp 26"] = "EIO"
    assert app(store, "add", "dscp-prio", "26:3", "48:6") == 0
    assert "Input/output error" in capsys.readouterr().err
    assert shown(store, capsys, "app") == {"dscp_prio": [[48, 6]]}


def test_a_deleted_entry_s_dscp_goes_to_priority_0_and_nothing_shows_it(make_store: MakeStore) -> None:
    store = make_store("bf3")
    app(store, "add", "dscp-prio", "26:3")
    app(store, "flush", "dscp-prio")
    assert store.read()["qos"]["dscp_prio"] == {}
    assert store.read()["qos"]["map"][25:28] == [3, 0, 3]
    assert mlnx_qos.main(["-i", IF, "--trust", "dscp"], store) == 0  # until all 64 are shown
    assert store.read()["qos"]["dscp_prio"]["26"] == 0


def test_exit_code_is_0_when_a_delete_failed(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("bf3")
    assert app(store, "del", "dscp-prio", "26:3") == 0
    assert capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "stored"), [("25550mbit", 25e9), ("12345mbit", 12.3e9), ("10gbit", 10e9), ("99999mbit", 99e9)]
)
def test_rate_limits_are_rounded_down(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], asked: str, stored: float
) -> None:
    store = make_store("bf3")
    assert dcb.main(["maxrate", "set", "dev", IF, "tc-maxrate", f"3:{asked}"], store) == 0
    assert shown(store, capsys, "maxrate")["tc_maxrate"][3] == stored


def test_pfc_by_both_tools_is_one_setting(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("bf3")
    assert dcb.main(["pfc", "set", "dev", IF, "prio-pfc", "all:off", "3:on"], store) == 0
    mlnx_qos.main(["-i", IF], store)
    assert "enabled     0   0   0   1   0   0   0   0" in capsys.readouterr().out
    mlnx_qos.main(["-i", IF, "--pfc", "0,0,0,0,1,0,0,0"], store)
    assert shown(store, capsys, "pfc")["prio_pfc"] == [False] * 4 + [True] + [False] * 3


def test_mlnx_qos_shows_and_sets_the_map(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("bf3")
    assert mlnx_qos.main(["-i", IF, "--dscp2prio", "set,26,5"], store) != 0  # there is none without trust
    assert mlnx_qos.main(["-i", IF, "--trust", "dscp", "--dscp2prio", "set,26,5"], store) == 0
    out = capsys.readouterr().out
    assert "Priority trust state: dscp" in out
    assert "prio:3 dscp:31,30,29,28,27,25,24," in out
    mlnx_qos.main(["-i", IF, "--dscp2prio", "del,26,5"], store)
    assert store.read()["qos"]["dscp_prio"]["26"] == 0


def test_bad_input_changes_nothing(make_store: MakeStore) -> None:
    store = make_store("bf3")
    before = store.read()
    assert mlnx_qos.main(["-i", IF, "--pfc", "0,0,1"], store) != 0
    assert mlnx_qos.main(["-i", "eth0", "--trust", "dscp"], store) != 0
    assert dcb.main(["pfc", "set", "dev", IF, "prio-pfc", "9:on"], store) != 0
    assert store.read() == before


def test_lldpad_is_warned_of(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store("bf3")
    mlnx_qos.main(["-i", IF], store)
    assert "lldpad" not in capsys.readouterr().out
    monkeypatch.setattr(control, "ask", lambda _order: {"ActiveState": "active"})
    mlnx_qos.main(["-i", IF], store)
    assert "lldpad" in capsys.readouterr().out


def test_apptrust_and_dcbx_of_the_firmware_are_refused(make_store: MakeStore) -> None:
    store = make_store("bf3")
    assert dcb.main(["apptrust", "show", "dev", IF], store) != 0
    assert dcb.main(["dcbx", "set", "dev", IF, "lld-managed"], store) != 0
