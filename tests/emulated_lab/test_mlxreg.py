"""PPCC through `mlxreg`: a table of words, slots, and sets that are ignored without a word."""

from __future__ import annotations

import io
import re

import pytest

from tests.emulated_lab import counters, ppcc
from tests.emulated_lab.conftest import MakeStore
from tests.emulated_lab.fakes import mlxreg
from tests.emulated_lab.store import Store

PCI = {"bf3": "0000:03:00.0", "cx7": "0000:01:00.0"}
MAX_DELAY = 8  # of ZTR-RTTCC


def call(store: Store, slot: int, index: int, *operation: str) -> int:
    indexes = f"local_port=1,pnat=0,lp_msb=0,algo_slot={slot},algo_param_index={index}"
    return mlxreg.main(
        ["-d", PCI[store.read()["card"]], "-y", *operation, "--reg_name", "PPCC", "--indexes", indexes], store
    )


def get(
    store: Store, capsys: pytest.CaptureFixture[str], command: str, slot: int = 0, index: int = 0
) -> dict[str, int]:
    capsys.readouterr()
    assert call(store, slot, index, "--get", "--op", command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"Field Name +\| Data", lines[2])
    rows = [re.fullmatch(r"(\S+) +\| 0x([0-9a-f]{8})", line) for line in lines[4:-1]]
    return {row[1]: int(row[2], 16) for row in rows if row}


def text(fields: dict[str, int]) -> str:
    words = b"".join(fields[f"text[{at}]"].to_bytes(4, "big") for at in range(55))
    return words[: fields["text_length"]].decode()


def test_names_and_ids_of_the_slots(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("cx7")
    assert text(get(store, capsys, "cmd_type=0")).startswith("ZTR_RTTCC,")
    assert text(get(store, capsys, "cmd_type=0", slot=15)).startswith("DCQCN,")
    infos = get(store, capsys, "cmd_type=0x10")
    present = [slot for slot in range(16) if infos[f"text[{slot}]"]]
    assert present == [0, 15]


def test_slot_without_algorithm_is_an_error(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("bf3")  # no program runs
    assert call(store, 0, 0, "--get", "--op", "cmd_type=4") != 0
    assert "BAD_PARAM" in capsys.readouterr().out


def test_information_on_a_parameter(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("cx7")
    assert get(store, capsys, "cmd_type=4")["value"] == 15
    info = get(store, capsys, "cmd_type=5", index=MAX_DELAY)
    assert (info["param_value1"], info["param_value2"], info["prm"]) == (250_000, 0, ppcc.READ_WRITE)
    assert text(info) == "MAX_DELAY, ns"


def test_set_is_seen_one_by_one_and_in_bulk(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("cx7")
    assert call(store, 0, MAX_DELAY, "--set", "cmd_type=8,value=300000") == 0
    assert get(store, capsys, "cmd_type=6", index=MAX_DELAY)["value"] == 300_000
    bulk = get(store, capsys, "cmd_type=0xa")
    assert bulk["text_length"] == 4 * 15
    assert bulk[f"text[{MAX_DELAY}]"] == 300_000
    assert call(store, 0, 0, "--set", "cmd_type=0xb,text_length=8,text[0]=100,text[1]=6554") == 0
    assert get(store, capsys, "cmd_type=6", index=1)["value"] == 6554


@pytest.mark.parametrize("value", [0x00400001, 0xFFFFFFFF])
def test_value_out_of_range_is_ignored_and_the_exit_code_is_0(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], value: int
) -> None:
    store = make_store("cx7")
    assert call(store, 0, MAX_DELAY, "--set", f"cmd_type=8,value={value}") == 0
    assert get(store, capsys, "cmd_type=6", index=MAX_DELAY)["value"] == 250_000


def test_read_only_parameter_is_ignored_as_well(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("cx7")
    with store.edit() as state:
        state["ppcc"]["0"]["parameters"][0]["permission"] = ppcc.READ_ONLY
    assert call(store, 0, 0, "--set", "cmd_type=8,value=1") == 0
    assert get(store, capsys, "cmd_type=6")["value"] == 200


def test_enable_and_disable(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("cx7")
    assert get(store, capsys, "cmd_type=3", slot=15)["value"] == 1
    assert call(store, 15, 0, "--set", "cmd_type=2") == 0
    assert get(store, capsys, "cmd_type=3", slot=15)["value"] == 0


def test_counters_count_once_they_are_enabled(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store("cx7")
    with store.edit() as state:
        counters.tell(state, ppcc.counter(state["ppcc"]["0"], 0), add=5)
    assert get(store, capsys, "cmd_type=0xc")["text[0]"] == 0
    assert call(store, 0, 0, "--set", "cmd_type=1,counter_en=1") == 0
    assert get(store, capsys, "cmd_type=0xd")["text[0]"] == 5  # and clears
    assert get(store, capsys, "cmd_type=0xc")["text[0]"] == 0


def test_set_asks_without_y(make_store: MakeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_store("cx7")
    arguments = [
        "-d", PCI["cx7"], "--set", "cmd_type=8,value=7", "--reg_name", "PPCC",
        "--indexes", "local_port=1,pnat=0,lp_msb=0,algo_slot=0,algo_param_index=8",
    ]  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert mlxreg.main(arguments, store) != 0
    assert store.read()["ppcc"]["0"]["parameters"][MAX_DELAY]["value"] == 250_000
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert mlxreg.main(arguments, store) == 0
    assert store.read()["ppcc"]["0"]["parameters"][MAX_DELAY]["value"] == 7


def test_without_an_index_there_is_no_register(make_store: MakeStore) -> None:
    arguments = ["-d", PCI["cx7"], "--get", "--op", "cmd_type=4", "--reg_name", "PPCC", "--indexes", "local_port=1"]
    assert mlxreg.main(arguments, make_store("cx7")) != 0
