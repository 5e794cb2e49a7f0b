"""WRED profiles of SONiC and NVUE."""

from __future__ import annotations

import json

import pytest

from tests.emulated_lab.conftest import MakeStore
from tests.emulated_lab.fakes import ecnconfig, nv
from tests.emulated_lab.store import Store

MB = 1 << 20


def ecn(store: Store, **values: int) -> int:
    words = [word for name, value in values.items() for word in (f"-{name}", str(value))]
    return ecnconfig.main(["-p", "AZURE_LOSSLESS", *words], store)


def test_fields_are_written_one_by_one_the_maximum_first(make_store: MakeStore) -> None:
    store = make_store(card="")
    assert ecn(store, gmin=3 * MB, gmax=4 * MB, gdrop=10) == 0
    written = [json.loads(line)["what"][1] for line in (store.folder / "calls.jsonl").read_text().splitlines()]
    assert written == ["green_max_threshold", "green_min_threshold", "green_drop_probability"]
    assert store.read()["orchagent"]


def test_going_down_in_one_call_crashes_orchagent(make_store: MakeStore) -> None:
    store = make_store(card="")
    assert ecn(store, gmin=MB // 4, gmax=MB // 2) == 0  # the tool itself sees nothing wrong
    assert not store.read()["orchagent"]


def test_going_down_in_two_calls_does_not(make_store: MakeStore) -> None:
    store = make_store(card="")
    assert ecn(store, gmin=MB // 4) == 0
    assert ecn(store, gmax=MB // 2) == 0
    assert store.read()["orchagent"]


@pytest.mark.parametrize("values", [{"gdrop": 101}, {"gmin": -1}, {"gmin": 3 * MB}])
def test_what_is_invalid_is_refused_and_not_written(make_store: MakeStore, values: dict[str, int]) -> None:
    store = make_store(card="")
    before = store.read()
    assert ecn(store, **values) != 0
    assert store.read() == before


def test_it_cannot_create_a_profile(make_store: MakeStore) -> None:
    assert ecnconfig.main(["-p", "MINE", "-gmin", "1"], make_store(card="")) != 0


def test_list_shows_the_defaults(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert ecnconfig.main(["-l"], make_store(card="")) == 0
    out = capsys.readouterr().out.split()
    assert out[out.index("green_min_threshold") + 1] == str(MB)
    assert out[out.index("green_drop_probability") + 1] == "5"


def test_nvue_counts_once_it_is_applied(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_store(card="", switch="nvue")
    path = ["qos", "congestion-control", "lab", "traffic-class", "3"]
    for field, value in (("ecn", "enable"), ("min-threshold", "40000"), ("max-threshold", "160000")):
        assert nv.main(["set", *path, field, value], store) == 0
    assert nv.main(["show", *path, "-o", "json"], store) != 0
    assert nv.main(["config", "apply", "-y"], store) == 0
    capsys.readouterr()
    assert nv.main(["show", *path, "-o", "json"], store) == 0
    assert json.loads(capsys.readouterr().out) == {
        "ecn": "enable", "min-threshold": "40000", "max-threshold": "160000"
    }  # fmt: skip
    assert nv.main(["set", *path, "min-threshold", "200000"], store) == 0
    assert nv.main(["config", "apply", "-y"], store) != 0
    assert nv.main(["set", *path, "colour", "green"], store) != 0
