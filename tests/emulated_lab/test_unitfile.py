"""Unit files are read as systemd reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulated_lab.systemd import unitfile
from tests.emulated_lab.systemd.unitfile import BadUnit

PCC = """\
# a comment
[Unit]
Description=Program of %i
[Service]
ExecStart=/usr/bin/stdbuf -oL \\
    /opt/pcc -d %i
ExecStartPre=/bin/true
ExecStartPre=
KillSignal=SIGINT
SendSIGKILL=no
TimeoutStopSec=1min 30s
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(unitfile, "FOLDERS", (tmp_path / "etc", tmp_path / "usr"))
    for name in ("etc", "usr"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_template_continuation_reset_and_spans(folder: Path) -> None:
    (folder / "etc/pcc@.service").write_text(PCC)
    unit = unitfile.load("pcc@mlx5_0.service")
    assert unit is not None
    assert unit.get("Service.ExecStart").split() == ["/usr/bin/stdbuf", "-oL", "/opt/pcc", "-d", "mlx5_0"]
    assert unit.get("Unit.Description") == "Program of mlx5_0"
    assert unit.all("Service.ExecStartPre") == []
    assert not unit.flag("Service.SendSIGKILL", True)
    assert unit.seconds("Service.TimeoutStopSec", "90s") == 90


def test_etc_hides_usr_and_drop_ins_add(folder: Path) -> None:
    (folder / "usr/a.service").write_text("[Service]\nExecStart=/old\n")
    (folder / "etc/a.service").write_text("[Service]\nExecStart=/new\nUser=one\n")
    (folder / "etc/a.service.d").mkdir()
    (folder / "etc/a.service.d/more.conf").write_text("[Service]\nUser=two\n")
    unit = unitfile.load("a.service")
    assert unit is not None
    assert (unit.get("Service.ExecStart"), unit.get("Service.User")) == ("/new", "two")


def test_what_is_not_there(folder: Path) -> None:
    assert unitfile.load("none.service") is None
    (folder / "etc/empty.service").write_text("[Service]\nType=simple\n")
    with pytest.raises(BadUnit, match="ExecStart"):
        unitfile.load("empty.service")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[Service]\nExecStrat=/bin/true", r"Service\.ExecStrat= is not known to this lab"),
        ("[Unit]\nRequires=a.service", r"Unit\.Requires= is not known"),
        ("[Service]\nStartLimitBurst=3", r"Service\.StartLimitBurst= is not known"),  # in the wrong section
        ("[Service]\nType=notify", "Type=notify: this lab knows simple, exec, oneshot"),
        ("[Service]\nRestart=never", "Restart=never: this lab knows no, always"),
    ],
)
def test_what_it_does_not_know_is_refused(folder: Path, line: str, says: str) -> None:
    (folder / "etc/a.service").write_text(f"[Service]\nExecStart=/bin/true\n{line}\n")
    with pytest.raises(BadUnit, match=says):
        unitfile.load("a.service")


@pytest.mark.parametrize(
    ("text", "seconds"), [("5", 5), ("500ms", 0.5), ("1h 2min 3s", 3723), ("infinity", float("inf"))]
)
def test_spans(text: str, seconds: float) -> None:
    assert unitfile.span(text) == seconds


@pytest.mark.parametrize("text", ["soon", "5 fortnights"])
def test_no_span(text: str) -> None:
    with pytest.raises(BadUnit):
        unitfile.span(text)
