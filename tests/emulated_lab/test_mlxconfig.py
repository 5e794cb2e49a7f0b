"""NVConfig: three columns, a set that only stages, and a power cycle that no command can make."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from tests.emulated_lab import machine
from tests.emulated_lab.conftest import MakeStore
from tests.emulated_lab.fakes import mlxconfig
from tests.emulated_lab.store import Store

PCI = "0000:03:00.0"
KEY = "USER_PROGRAMMABLE_CC"


def columns(store: Store, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[list[str], list[str]]:
    """The header's columns and the key's line, mark included."""
    assert mlxconfig.main(["-d", PCI, *arguments, KEY], store) == 0
    lines = capsys.readouterr().out.splitlines()
    header = next(line for line in lines if line.startswith("Configurations:"))
    row = next(line for line in lines if KEY in line)
    return re.split(r"  +", header.strip())[1:], row.split()


def test_verbose_query_has_three_columns_and_a_star_where_next_differs(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str]
) -> None:
    store = make_store("bf3")
    header, row = columns(store, capsys, "-e", "q")
    assert header == ["Default", "Current", "Next Boot"]
    assert row == ["*", KEY, "False(0)", "True(1)", "True(1)"]  # it was configured, against the default
    assert mlxconfig.main(["-d", PCI, "-y", "set", f"{KEY}=0"], store) == 0
    capsys.readouterr()
    assert columns(store, capsys, "-e", "q")[1] == ["*", KEY, "False(0)", "True(1)", "False(0)"]


def test_no_star_where_all_are_equal(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    mlxconfig.main(["-d", PCI, "-e", "q", "PCC_INT_EN"], make_store("bf3"))
    out = capsys.readouterr().out
    assert "*" not in out


def test_plain_query_shows_what_is_not_live_yet(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("bf3")
    mlxconfig.main(["-d", PCI, "-y", "set", f"{KEY}=0"], store)
    capsys.readouterr()
    assert columns(store, capsys, "q") == (["Next Boot"], [KEY, "False(0)"])


def test_set_becomes_live_with_a_power_cycle_and_not_with_a_reboot(make_store: MakeStore) -> None:
    store = make_store("bf3")
    mlxconfig.main(["-d", PCI, "-y", "set", f"{KEY}=False"], store)
    assert machine.boot(store.read(), power=False)["nvconfig"][KEY]["current"] == 1
    assert machine.boot(store.read(), power=True)["nvconfig"][KEY]["current"] == 0


def test_set_asks_unless_told_not_to(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store("bf3")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert mlxconfig.main(["-d", PCI, "set", f"{KEY}=0"], store) != 0
    assert "(y/n) [n]" in capsys.readouterr().out
    assert store.read()["nvconfig"][KEY]["next"] == 1
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert mlxconfig.main(["-d", PCI, "set", f"{KEY}=0"], store) == 0
    assert store.read()["nvconfig"][KEY]["next"] == 0


@pytest.mark.parametrize(
    "arguments",
    [["q", "NO_SUCH_KEY"], ["-y", "set", "NO_SUCH_KEY=1"], ["-y", "set", f"{KEY}=2"], ["-y", "set", f"{KEY}=maybe"]],
)
def test_what_it_does_not_know_is_an_error_and_changes_nothing(make_store: MakeStore, arguments: list[str]) -> None:
    store = make_store("bf3")
    before = store.read()
    assert mlxconfig.main(["-d", PCI, *arguments], store) != 0
    assert store.read() == before


def test_a_card_without_dpa_does_not_know_the_keys_of_one(make_store: MakeStore) -> None:
    assert mlxconfig.main(["q", KEY], make_store("cx7")) != 0


def test_another_device_is_an_error(make_store: MakeStore) -> None:
    assert mlxconfig.main(["-d", "0000:99:00.0", "q"], make_store("bf3")) != 0


def test_json_has_all_columns_with_e(make_store: MakeStore, tmp_path: Path) -> None:
    store, file = make_store("bf3"), tmp_path / "config.json"
    assert mlxconfig.main(["-d", PCI, "-e", "-j", str(file), "q", KEY], store) == 0
    device = json.loads(file.read_text())["Device #1"]
    assert device["device_type"] == "BlueField3"
    assert device["tlv_configuration"][KEY] == {
        "read_only": False, "default_value": "False(0)", "current_value": "True(1)", "next_value": "True(1)",
        "modified": True,
    }  # fmt: skip
    mlxconfig.main(["-d", PCI, "-j", str(file), "q", KEY], store)
    assert json.loads(file.read_text())["Device #1"]["tlv_configuration"][KEY] == {
        "read_only": False, "next_value": "True(1)"
    }  # fmt: skip


def test_reset_turns_the_dpu_into_a_nic(make_store: MakeStore) -> None:
    """The accident of NIC Configuration Operator's pull request 97, so that a rollout can be caught at it."""
    store = make_store("bf3")
    with store.edit() as state:
        state["nvconfig"]["INTERNAL_CPU_OFFLOAD_ENGINE"].update(current=0, next=0)
    assert mlxconfig.main(["-d", PCI, "-y", "reset"], store) == 0
    assert store.read()["nvconfig"]["INTERNAL_CPU_OFFLOAD_ENGINE"] == {"default": 1, "current": 0, "next": 1}
