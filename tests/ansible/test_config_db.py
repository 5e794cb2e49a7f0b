"""Tables of a SONiC switch: settings become one JSON patch, which the lab's fake takes as SONiC does, or refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lab_settings.backend import Change, Setting
from lab_settings.config_db import ConfigDb, patch_of
from lab_settings.errors import LabError
from lab_settings.target import Target

from tests.emulated_lab import wred
from tests.emulated_lab.fakes import sonic_config
from tests.emulated_lab.store import Store

TABLES: dict[str, Any] = {
    "SCHEDULER": {"s.0": {"type": "DWRR", "weight": "14"}},
    "QUEUE": {"Ethernet0|3": {"scheduler": "s.0"}},
}


@pytest.mark.parametrize(
    ("wanted", "patch"),
    [
        ({"SCHEDULER|s.0/weight": "20"},
         [("add", "/SCHEDULER/s.0", {"type": "DWRR", "weight": "20"})]),
        ({"SCHEDULER|s.0/weight": "14"}, []),
        ({"QUEUE|Ethernet0|4/scheduler": "s.0"}, [("add", "/QUEUE/Ethernet0|4", {"scheduler": "s.0"})]),
        ({"PFC_WD|Ethernet0/action": "drop"}, [("add", "/PFC_WD", {"Ethernet0": {"action": "drop"}})]),
        ({"QUEUE|Ethernet0|3/scheduler": None}, [("remove", "/QUEUE", None)]),
        ({"SCHEDULER|s.0/weight": None}, [("add", "/SCHEDULER/s.0", {"type": "DWRR"})]),
        ({"SCHEDULER|s.0/weight": None, "SCHEDULER|s.0/type": None, "SCHEDULER|a/b~/type": "STRICT"},
         [("remove", "/SCHEDULER/s.0", None), ("add", "/SCHEDULER/a~1b~0", {"type": "STRICT"})]),
    ],
)  # fmt: skip
def test_a_patch_has_whole_entries(wanted: dict[str, str | None], patch: list[tuple[str, str, Any]]) -> None:
    found = patch_of(TABLES, wanted)
    assert sorted((one["op"], one["path"], one.get("value")) for one in found) == sorted(patch)


def test_what_a_switch_does_not_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = ConfigDb(Target(""))
    backend._tables = {"PORT": {"Ethernet0": {"speed": "100000"}}}
    monkeypatch.setattr(backend, "known", dict)
    with pytest.raises(LabError, match=r"this switch has no port Ethernet4: export the tables for its own \(--ports\)"):
        backend.read(["QUEUE|Ethernet4|3/scheduler"])
    assert backend.read(["PORT|Ethernet0/speed"]) == {"PORT|Ethernet0/speed": "100000"}
    with pytest.raises(
        LabError, match=r"PORT\|Ethernet0/speed is 100000 on this switch, and the tables are for 400000"
    ):
        backend.order([Change(Setting("config_db", "PORT|Ethernet0/speed", "400000"), "100000")])
    for name, problem in (("VLAN|Vlan1/mtu", "cannot be set"), ("nothing", "write TABLE|KEY/FIELD")):
        with pytest.raises(LabError, match=problem):
            backend.put(name, "1")


def test_the_lab_takes_a_patch_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(wred.new())
    before = store.read()

    def patch(*operations: tuple[str, str, Any]) -> int:
        file = tmp_path / "patch.json"
        file.write_text(json.dumps([{"op": op, "path": path, "value": value} for op, path, value in operations]))
        return sonic_config.main(["apply-patch", str(file)], store)

    good = ("add", "/SCHEDULER/s.1", {"type": "DWRR", "weight": "20"})
    for bad in (
        ("add", "/QUEUE/Ethernet0|3", {"scheduler": "missing"}), ("add", "/PFC_WD/Ethernet0", {}),
        ("remove", "/SCHEDULER/missing", None), ("add", "/SCHEDULER/s.2", {"weight": "101"}),
        ("add", "/SCHEDULER", {}),
    ):  # fmt: skip
        assert patch(good, bad) == 1
        assert store.read() == before
    assert patch(good, ("add", "/WRED_PROFILE/MINE", {"ecn": "ecn_all"})) == 0
    assert store.read()["config_db"]["SCHEDULER"]["s.1"]["weight"] == "20"
    assert "MINE" in store.read()["wred"]
