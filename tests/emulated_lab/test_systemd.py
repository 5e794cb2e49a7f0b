"""Process 1 really starts, stops and restarts, and its timers do not care about ssh."""

from __future__ import annotations

import signal

import pytest

from tests.emulated_lab.host import Host
from tests.emulated_lab.lab import Lab
from tests.support.waiting import until

pytestmark = [pytest.mark.root, pytest.mark.parallel]
PCC = """\
[Service]
ExecStart=/usr/bin/stdbuf -oL /usr/bin/doca_pcc -d mlx5_0
ExecStartPost=/bin/sh -c 'echo $MAINPID > /run/pcc.pid'
StandardOutput=append:/run/pcc.log
KillSignal=SIGINT
KillMode=mixed
SendSIGKILL=no
Restart=always
RestartSec=50ms
[Unit]
StartLimitIntervalSec=60
StartLimitBurst=3
[Install]
WantedBy=multi-user.target
"""


SANDBOXED = """\
[Service]
Type=oneshot
ExecStartPre=-+/bin/sh -c 'id -u > /etc/outside; exit 1'
ExecStart=-/bin/touch /etc/inside /run/sandboxed/own /tmp/here
ExecStart=/bin/sh -c 'id -un; id -gn; cat /proc/self/status; wc -l < /proc/net/dev'
User=nobody
Group=daemon
RuntimeDirectory=sandboxed
RuntimeDirectoryPreserve=yes
ProtectSystem=strict
PrivateTmp=yes
PrivateNetwork=yes
CapabilityBoundingSet=
NoNewPrivileges=yes
MemoryDenyWriteExecute=yes
"""


def show(host: Host, unit: str, key: str) -> str:
    return host.run(["systemctl", "show", unit, "-p", key, "--value"]).stdout.strip()


def test_service_from_enable_to_the_start_limit(lab: Lab) -> None:
    host = lab.hosts[0]
    host.write("/etc/systemd/system/pcc.service", PCC)
    host.run(["systemctl", "enable", "--now", "pcc"])
    until(lambda: host.contains("/run/pcc.log", "Active"))
    pid = show(host, "pcc", "MainPID")
    assert host.read("/run/pcc.pid").strip() == pid
    assert host.run(["systemctl", "is-enabled", "pcc"]).stdout == "enabled\n"

    lab.power_cycle("lab1")  # enabled: it comes up by itself
    until(lambda: host.contains("/run/pcc.log", "Active"))

    host.run(["systemctl", "stop", "pcc"])
    assert host.read("/run/pcc.log").count("PCC host is done") == 1  # by one SIGINT
    assert host.run(["systemctl", "is-active", "pcc"], check=False).returncode == 3

    host.run(["systemctl", "start", "pcc"])
    host.break_pcc("error")  # it exits with 0, so only Restart=always starts it again, until that was too often
    until(lambda: show(host, "pcc", "ActiveState") == "failed")
    assert show(host, "pcc", "Result") == "start-limit-hit"
    host.mend()
    host.run(["systemctl", "reset-failed", "pcc"])
    host.run(["systemctl", "disable", "--now", "pcc"])
    assert host.run(["systemctl", "is-enabled", "pcc"], check=False).stdout == "disabled\n"


def test_changed_files_count_after_a_daemon_reload(lab: Lab) -> None:
    host = lab.hosts[1]
    unit = "/etc/systemd/system/say.service"
    for what in ("one", "two"):
        host.write(unit, f"[Service]\nType=oneshot\nExecStart=/bin/echo {what}\n")
        host.run(["systemctl", "start", "say"])
    host.run(["systemctl", "daemon-reload"])
    host.run(["systemctl", "start", "say"])
    said = host.run(["journalctl", "-u", "say", "-o", "cat"]).stdout.split("\n")
    assert [line for line in said if line in ("one", "two")] == ["one", "one", "two"]


def test_timer_fires_after_ssh_died_and_not_when_it_was_stopped(lab: Lab) -> None:
    host = lab.hosts[1]
    wait = "while pgrep -x sshd; do sleep 0.05; done; touch /run/"
    for name, delay in (("armed", "100ms"), ("disarmed", "1000s")):
        lab.ssh("lab2", f"systemd-run --unit={name} --on-active={delay} --collect sh -c '{wait}{name}'")
    lab.ssh("lab2", "systemctl stop disarmed.timer")
    host.kill_sshd()
    assert lab.ssh("lab2", "true", check=False).returncode == 255
    until((host.root / "run/armed").exists)
    host.start_sshd()
    until(lambda: lab.ssh("lab2", "true", check=False).returncode == 0)
    assert show(host, "disarmed.timer", "LoadState") == "not-found"
    until(lambda: show(host, "armed.timer", "LoadState") == "not-found")  # it is forgotten, its name is free


def test_failures_are_told(lab: Lab) -> None:
    host = lab.hosts[1]
    host.write("/etc/systemd/system/fails.service", "[Service]\nType=oneshot\nExecStart=/bin/false\n")
    assert host.run(["systemctl", "start", "fails"], check=False).returncode == 1
    assert host.run(["systemctl", "is-failed", "fails"]).stdout == "failed\n"
    assert host.run(["systemctl", "start", "missing"], check=False).returncode == 5
    host.write("/etc/systemd/system/killed.service", "[Service]\nExecStart=/usr/bin/sleep infinity\n")
    host.run(["systemctl", "start", "killed"])
    host.run(["systemctl", "kill", "-s", "SIGKILL", "killed"])
    until(lambda: show(host, "killed", "Result") == "signal")
    assert show(host, "killed", "ExecMainStatus") == str(int(signal.SIGKILL))


def test_output_goes_to_a_file_only_in_a_folder_that_was_there_before(lab: Lab) -> None:
    """systemd opens StandardOutput= before it makes RuntimeDirectory=."""
    host = lab.hosts[1]
    early = "[Service]\nExecStart=/bin/true\nRuntimeDirectory=early\nStandardOutput=truncate:/run/early/log\n"
    host.write("/etc/systemd/system/early.service", early)
    host.run(["systemctl", "start", "early"], check=False)
    until(lambda: show(host, "early", "ExecMainStatus") == "209")


def test_a_unit_is_in_the_sandbox_that_it_describes(lab: Lab) -> None:
    host = lab.hosts[1]
    host.write("/etc/systemd/system/sandboxed.service", SANDBOXED)
    host.run(["systemctl", "start", "sandboxed"])
    said = host.run(["journalctl", "-u", "sandboxed", "-o", "cat"]).stdout.splitlines()
    assert {"nobody", "daemon", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"} <= set(said)
    assert "3" in said  # lines of /proc/net/dev: two of head, and lo
    assert host.read("/etc/outside") == "0\n"
    there = {path: (host.root / path).exists() for path in ("etc/inside", "tmp/here", "run/sandboxed/own")}
    assert there == {"etc/inside": False, "tmp/here": False, "run/sandboxed/own": True}


BOOT = {
    "first": ("", "sleep 0.3; touch /run/first"),
    "second": ("After=first.service\nWants=third.service missing.service", "test -e /run/first && touch /run/second"),
    "third": ("", "touch /run/third"),
    "never": ("ConditionPathExists=/nowhere", "touch /run/never"),
    "stranger": ("Requires=first.service", "touch /run/stranger"),
}


def test_what_is_enabled_starts_in_order_and_what_is_not_known_is_said(lab: Lab) -> None:
    host = lab.hosts[1]
    for name, (unit, script) in BOOT.items():
        text = f"[Unit]\n{unit}\n[Service]\nType=oneshot\nExecStart=/bin/sh -c '{script}'\n"
        host.write(f"/etc/systemd/system/{name}.service", f"{text}[Install]\nWantedBy=multi-user.target\n")
    host.run(["systemctl", "enable", "first", "second", "never"])
    link = "ln -s ../stranger.service /etc/systemd/system/multi-user.target.wants/stranger.service"
    host.run(["sh", "-c", link])  # `enable` would refuse it
    lab.reboot("lab2")
    until((host.root / "run/second").exists)
    until((host.root / "run/third").exists)
    assert not (host.root / "run/never").exists()
    assert not (host.root / "run/stranger").exists()
    said = host.run(["journalctl"]).stdout
    assert "Unit.Requires= is not known to this lab" in said
    assert "unmet condition check ConditionPathExists=/nowhere" in said
    host.run(["sh", "-c", "rm /etc/systemd/system/multi-user.target.wants/stranger.service"])
    host.run(["systemctl", "disable", "first", "second", "never"])

    host.run(["mkdir", "-p", "/etc/udev/rules.d"])
    host.write("/etc/udev/rules.d/90.rules", 'ACTION=="add", RUN+="/bin/true"\n')
    reloaded = host.run(["devlink", "dev", "reload", f"pci/{host.pci}"], check=False)
    assert (reloaded.returncode, reloaded.stderr) == (1, 'udev: 90.rules: not known to this lab: RUN+="/bin/true"\n')
    (host.root / "etc/udev/rules.d/90.rules").unlink()
    assert host.run(["devlink", "dev", "reload", f"pci/{host.pci}"]).returncode == 0
