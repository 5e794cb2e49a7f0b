"""Rules of udev, as far as a rollout writes them: which units does a new device want?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulated_lab.systemd import udev
from tests.emulated_lab.systemd.udev import Event
from tests.emulated_lab.systemd.unitfile import BadUnit

PCI = "0000:03:00.0"
WANTS = 'TAG+="systemd", ENV{SYSTEMD_WANTS}+="a.service"'
RELOADED = Event("add", "net", "eth1", (PCI,), "enp3s0f0np0")  # as the driver begins: udev renames it afterwards
RDMA = Event("add", "infiniband", "mlx5_0", (PCI,))


@pytest.fixture
def rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(udev, "RULES", tmp_path)
    return tmp_path / "90.rules"


@pytest.mark.parametrize(
    ("match", "wanted"),
    [
        (f'SUBSYSTEM=="net|infiniband", KERNELS=="{PCI}"', [True, True]),
        ('SUBSYSTEM=="net", KERNEL=="enp3s0f0np0"', [False, False]),  # the trap: it has this name only later
        ('SUBSYSTEM=="net", NAME=="enp3s0f0np0"', [True, False]),
        ('ACTION=="remove"', [False, False]),
        ('KERNELS=="0000:04:00.0"', [False, False]),
    ],
)
def test_who_is_meant(rule: Path, match: str, wanted: list[bool]) -> None:
    rule.write_text(f"# a comment\n{match}, {WANTS}\n")
    assert [udev.wanted(event) == ["a.service"] for event in (RELOADED, RDMA)] == wanted


def test_systemd_hears_of_devices_with_its_tag_only(rule: Path) -> None:
    rule.write_text('ACTION=="add", ENV{SYSTEMD_WANTS}+="a.service"\n')
    assert udev.wanted(RDMA) == []


@pytest.mark.parametrize("line", ['ATTR{mtu}=="9000"', 'RUN+="/bin/true"', 'KERNEL="x"', "KERNEL==x", "GOTO"])
def test_what_it_does_not_know_is_refused(rule: Path, line: str) -> None:
    rule.write_text(f"{line}, {WANTS}\n")
    with pytest.raises(BadUnit, match=r"90\.rules: not known to this lab"):
        udev.wanted(RDMA)
