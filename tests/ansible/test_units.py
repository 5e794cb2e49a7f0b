"""Unit files that the playbooks write, read by the machine's own systemd, and by the lab's stand-in."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import jinja2
import pytest
from lab_settings import host_files, persist
from lab_settings.target import Target

from tests.ansible.conftest import ANSIBLE
from tests.emulated_lab.systemd import execution, udev, unitfile

FILES = persist.files(Target("enp1s0f0np0", "mlx5_0", "0000:01:00.0"), "r1")
VARIABLES = {
    "ansible_managed": "here", "pcc_executable": "/opt/testbed-pcc", "pcc_arguments": ["-t", "176 177", "5 % $HOME"],
    "exporter_executable": "/usr/bin/true", "exporter_address": "192.0.2.11", "exporter_port": 9465,
    "exporter_registers_seconds": 15,
}  # fmt: skip


@pytest.fixture
def units(tmp_path: Path) -> list[Path]:
    """All of them, with instances of templates."""
    (tmp_path / persist.NAME).write_text(FILES[host_files.SETTINGS_UNIT])
    for template in (ANSIBLE / "roles").glob("*/templates/*.service.j2"):
        text = jinja2.Template(template.read_text()).render(VARIABLES)
        (tmp_path / template.name.removesuffix(".j2").replace("@.", "@mlx5_0.")).write_text(text)
    assert len(list(tmp_path.iterdir())) == 4
    return sorted(tmp_path.iterdir())


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd on this machine")
def test_systemd_understands_all_of_it(units: list[Path]) -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, units)], capture_output=True, text=True, check=False
    )
    about = {file.name for file in units}
    assert [line for line in done.stderr.splitlines() if any(name in line for name in about)] == []


def test_the_lab_s_stand_in_knows_all_of_it(units: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unitfile, "FOLDERS", (units[0].parent,))
    assert all(unitfile.load(file.name) for file in units)


def test_the_program_gets_its_arguments_and_its_log(
    units: list[Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(unitfile, "FOLDERS", (units[0].parent,))
    unit = unitfile.load("testbed-pcc@mlx5_0.service")
    assert unit is not None
    assert unit.all("Service.StandardOutput") == []  # systemd would open it before its folder is there
    shell, option, script, *words = execution.words(unit.get("Service.ExecStart"), {"HOME": "/root"})
    assert words[1:] == ["/opt/testbed-pcc", "-d", "mlx5_0", "-t", "176 177", "5 % $HOME"]
    log = tmp_path / "log"
    said = script.replace("/run/testbed/pcc/mlx5_0.log", str(log))
    assert said != script
    subprocess.run([shell, option, said, "sh", "printf", "%s|", *words[4:]], check=True)
    assert log.read_text() == "-t|176 177|5 % $HOME|"


def test_the_rule_is_about_the_card_whatever_its_interface_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(udev, "RULES", tmp_path)
    (tmp_path / "90.rules").write_text(FILES[host_files.UDEV_RULE])
    state = {"card": "cx7", "interface": "enp1s0f0np0", "device": "mlx5_0", "pci": "0000:01:00.0"}
    for kernel in ("eth1", "enp1s0f0np0"):  # until udev renames it, and after a boot
        assert [udev.wanted(event) for event in udev.found(state, "add", kernel)] == [[persist.NAME]] * 2
    assert [udev.wanted(event) for event in udev.found(state, "remove")] == [[], []]
    assert [udev.wanted(event) for event in udev.found({**state, "pci": "0000:02:00.0"}, "add")] == [[], []]
