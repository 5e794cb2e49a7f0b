"""The batch: compare, write in order, read back; on trees of plain files and on a backend with firmware's habits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from lab_settings import batch, resolve
from lab_settings.backend import Backend, Change, Setting
from lab_settings.cc_params import CcParams
from lab_settings.ecn import Ecn
from lab_settings.errors import Ignored, LabError, Refused
from lab_settings.target import Target

from tests.ansible.tree import tree


class Firmware(Backend):
    """In memory; writing ``value`` resets ``mode``, and ``stubborn`` takes nothing."""

    name = "firmware"

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self.values: dict[str, str | None] = {"mode": "1", "stubborn": "3", "value": "10"}
        self.written: list[str] = []

    def names(self) -> list[str]:
        return sorted(self.values)

    def read(self, names: Iterable[str]) -> dict[str, str | None]:
        return {name: self.values.get(name) for name in names}

    def write(self, name: str, value: str | None) -> None:
        self.written.append(name)
        if name != "stubborn":
            self.values[name] = value
        if name == "value":
            self.values["mode"] = "0"


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target("enp1s0f0np0", "mlx5_0", "0000:01:00.0", root=tmp_path)


def test_only_what_differs_is_written_and_a_second_time_nothing_does(target: Target) -> None:
    folder = tree(target, "/sys/class/net/enp1s0f0np0/ecn", roce_rp__rpg_ai_rate="5", roce_rp__rpg_gd="11")
    backends = {"ecn": Ecn(target)}
    settings = [Setting("ecn", "roce_rp/rpg_ai_rate", "50"), Setting("ecn", "roce_rp/rpg_gd", "0xb")]
    changes = batch.plan(settings, backends)
    assert [(one.setting.name, one.before) for one in changes] == [("roce_rp/rpg_ai_rate", "5")]
    batch.apply(changes, backends)
    assert (folder / "roce_rp/rpg_ai_rate").read_text() == "50\n"
    assert batch.plan(settings, backends) == []


def test_an_ignored_setting_is_named_with_what_it_is(target: Target) -> None:
    backends = {"firmware": Firmware(target)}
    settings = [Setting("firmware", "mode", "0"), Setting("firmware", "stubborn", "4")]
    with pytest.raises(Ignored, match="firmware stubborn is '3', not '4'") as caught:
        batch.apply(batch.plan(settings, backends), backends)
    assert len(caught.value.settings) == 1


def test_what_another_write_resets_is_written_again(target: Target) -> None:
    firmware = Firmware(target)
    settings = [Setting("firmware", "mode", "1"), Setting("firmware", "value", "20")]
    changes = [Change(settings[0], "0"), Change(settings[1], "10")]  # the mode first, which the value then resets
    batch.apply(changes, {"firmware": firmware})
    assert firmware.values["mode"] == "1"
    assert firmware.written == ["mode", "value", "mode"]


def test_value_before_mode_in_debugfs(target: Target) -> None:
    names = ("rtt_resp_dscp_valid", "np_cnp_prio_mode", "rtt_resp_dscp", "np_cnp_prio")
    ordered = CcParams(target).order([Change(Setting("cc_params", name, "1"), "0") for name in names])
    assert [one.setting.name for one in ordered] == [names[2], names[3], names[0], names[1]]


def test_nothing_is_created_or_truncated(target: Target) -> None:
    tree(target, "/sys/class/net/enp1s0f0np0/ecn", roce_rp__rpg_gd="11")
    backends = {"ecn": Ecn(target)}
    with pytest.raises(LabError, match=r"roce_rp/absent: write '1'.*this host has no such setting"):
        batch.apply(batch.plan([Setting("ecn", "roce_rp/absent", "1")], backends), backends)
    assert not (target.path("/sys/class/net/enp1s0f0np0/ecn/roce_rp/absent")).exists()


def test_an_unknown_backend_is_answered_with_those_that_there_are(target: Target) -> None:
    with pytest.raises(LabError, match="no backend is named 'sysfs'; there are ecn"):
        batch.plan([Setting("sysfs", "x", "1")], {"ecn": Ecn(target)})


def test_dcqcn_is_what_the_driver_has(target: Target) -> None:
    tree(target, "/sys/kernel/debug/mlx5/0000:01:00.0/cc_params", rp_ai_rate="5")
    backends = {"ecn": Ecn(target), "cc_params": CcParams(target)}
    asked = [Setting("dcqcn", "roce_rp/rpg_ai_rate", "50"), Setting("dcqcn", "roce_rp/enable/3", "1")]
    found, warnings = resolve.resolve(asked, backends)
    assert found == [Setting("cc_params", "rp_ai_rate", "50")]
    assert warnings == ["the mainline driver has no roce_rp/enable/3; the firmware's own value stays"]


def test_no_dcqcn_at_all_is_a_refusal_with_a_name(target: Target) -> None:
    with pytest.raises(Refused, match="no-dcqcn: enp1s0f0np0 has no dcqcn settings: neither ecn nor cc_params"):
        resolve.resolve([Setting("dcqcn", "x", "1")], {"ecn": Ecn(target), "cc_params": CcParams(target)})
