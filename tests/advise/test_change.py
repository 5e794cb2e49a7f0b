"""What an answer leaves in its folder does what it says."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from testbed.advise import present, written
from testbed.advise.workload import Workload
from tests.support.advised import SETTINGS, SWITCH, dctcp

KEYS = tuple(f"rack.switch.queues.3.red.{name}" for name in ("kmin", "kmax", "pmax"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("advice")
    written.write(made, dctcp())
    return made


def patched(tables: dict[str, Any], file: Path) -> dict[str, Any]:
    """As `config apply-patch` does, for the two operations that a patch of ours has."""
    found = deepcopy(tables)
    for one in json.loads(file.read_text()):
        *path, last = one["path"].strip("/").split("/")
        place = found
        for part in path:
            place = place[part]
        if one["op"] == "remove":
            del place[last]
        else:
            assert last in place
            place[last] = one["value"]
    return found


def test_it_advises_less_queue_for_the_same_goodput() -> None:
    advice = dctcp()
    assert advice.verdict.word == "change"
    assert advice.checked.gain.low > 0
    assert not advice.checked.advised.broken


def test_the_patched_configuration_is_what_was_measured_and_the_undo_is_what_was_there(
    folder: Path, tmp_path: Path
) -> None:
    now = json.loads(SWITCH.read_text())
    then = patched(now, folder / "config_db.patch.json")
    (tmp_path / "then.json").write_text(json.dumps(then))
    again = Workload.of("incast-2", tmp_path / "then.json", SETTINGS, tmp_path).present
    (measured,) = (one.resolved(1, dctcp().checked.advised.candidate) for one in dctcp().task.workloads)
    assert [present.value(again, key) for key in KEYS] == [present.value(measured, key) for key in KEYS]
    assert patched(then, folder / "config_db.undo.json") == now


def test_ecnconfig_never_has_kmin_above_kmax(folder: Path) -> None:
    profile = dict(zip(("gmin", "gmax"), (250_000, 1_000_000), strict=True))
    for line in (folder / "ecnconfig.sh").read_text().splitlines():
        *_, name, option, value = line.split()
        assert name == "AZURE_LOSSLESS"
        profile[option.removeprefix("-")] = int(value)
        assert profile["gmin"] <= profile["gmax"]


def test_ansible_has_the_same_thresholds(folder: Path) -> None:
    said, settings = yaml.safe_load((folder / "ansible.yml").read_text()), {}
    for one in json.loads((folder / "config_db.patch.json").read_text()):
        settings[one["path"].rpartition("/")[2]] = int(one["value"])
    assert said["switch_ecn_profile"] == "AZURE_LOSSLESS"
    for variable, field in {"kmin": "min_threshold", "kmax": "max_threshold", "pmax": "drop_probability"}.items():
        if f"green_{field}" in settings:
            assert said[f"switch_ecn_{variable}"] == settings[f"green_{field}"]


def test_queues_that_have_one_profile_are_changed_together() -> None:
    advice = dctcp()
    assert [one.also for one in advice.space.knobs] == [(key.replace(".3.", ".4."),) for key in KEYS]
    (measured,) = (one.resolved(1, advice.checked.advised.candidate) for one in advice.task.workloads)
    for key in KEYS:
        assert present.value(measured, key.replace(".3.", ".4.")) == present.value(measured, key)


def test_the_page_and_the_data_say_the_same(folder: Path) -> None:
    page, data = (folder / "advice.html").read_text(), json.loads((folder / "advice.json").read_text())
    assert "Change it" in page
    assert data["verdict"] == "change"
    assert 0 < data["gain"]["low"] <= data["gain"]["median"] <= data["gain"]["high"] < 1
    assert data["search"]["runs"] == dctcp().runs <= 80
    for part in ("Queue before and after", "The search", "Sensitivity: q3 kmin", "alarms.yml", "ecnconfig.sh"):
        assert part in page
