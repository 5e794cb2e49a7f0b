"""Playing a playbook against the emulated lab, and looking at a host from outside."""

from __future__ import annotations

import json
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed.engines.lab import ansible_vars, rollouts
from testbed.experiment.load import load, resolve
from tests.emulated_lab.host import Host
from tests.emulated_lab.lab import Lab
from tests.support.checkout import ROOT

PLAYBOOKS = ROOT / "ansible"
SETTINGS = (
    "dcqcn",
    "roce_rp_enable",
    "roce_np_enable",
    "traffic_class",
    "configfs",
    "rdma_cm",
    "qos",
    "nvconfig",
    "ppcc",
)
FILES = ("etc/testbed", "etc/systemd/system", "etc/udev/rules.d")


@dataclass(frozen=True)
class Played:
    """How a playbook ended: exit code, what it printed, and per host the numbers of the recap."""

    code: int
    text: str

    @property
    def recap(self) -> dict[str, dict[str, int]]:
        lines = re.findall(r"^(\w+)\s+: (ok=.*)$", self.text, re.MULTILINE)
        return {host: {key: int(n) for key, n in re.findall(r"(\w+)=(\d+)", counts)} for host, counts in lines}

    @property
    def line(self) -> str:
        """All of it as one line: Ansible folds long messages."""
        return re.sub(r"\s+", " ", self.text)

    def task(self, name: str) -> str:
        """Output of the task whose name ends so."""
        found = re.search(rf"^TASK \[[^]]*{name}\] \*+\n(.*?)(?=^TASK |^PLAY )", self.text, re.MULTILINE | re.DOTALL)
        assert found, self.text
        return found[1].strip()

    def changed(self) -> int:
        assert self.code == 0, self.text
        return sum(counts["changed"] for counts in self.recap.values())

    def refused(self, *words: str) -> None:
        """It failed, with these reasons."""
        assert self.code == 2, self.text
        for word in words:
            assert word in self.line, self.text


def experiment(controller: str = "", **settings: Any) -> dict[str, Any]:
    """What ``testbed lab vars`` prints, with settings of the playbooks that keep a test short."""
    loaded = load("incast-8")
    found = ansible_vars.variables(resolve(loaded.choose("controller", controller, "test") if controller else loaded))
    short = {"verify_soak_seconds": 0, "verify_seconds": 0.2}
    return {**found, **short, **settings}


def play(lab: Lab, book: str, *options: str, rollout: str = "r1", **variables: Any) -> Played:
    """Run ansible-playbook where the lab's management network is. An empty ``rollout`` gives no id."""
    file = lab.folder / "vars.json"
    file.write_text(json.dumps(({"rollout_id": rollout} if rollout else {}) | variables))
    out, err = lab.folder / "play.out", lab.folder / "play.err"
    asked = {"arguments": ["-i", str(lab.inventory), "-e", f"@{file}", *options, book], "files": [str(out), str(err)]}
    playing = lab.keep(controller)
    assert playing.stdin is not None
    assert playing.stdout is not None
    playing.stdin.write(json.dumps(asked) + "\n")
    playing.stdin.flush()
    assert select.select([playing.stdout], [], [], 1200)[0], out.read_text() + err.read_text()
    return Played(int(playing.stdout.readline()), out.read_text() + err.read_text())


@contextmanager
def controller(lab: Lab) -> Iterator[subprocess.Popen[str]]:
    """What plays playbooks, where the lab's management network is: see `tests.support.ansible_playbook`."""
    command = [sys.executable, "-P", str(ROOT / "tests/support/ansible_playbook.py")]
    # The configuration file's ssh options are replaced by the lab's, which know its keys.
    # The controller is in another time zone than the hosts.
    settings = {"ANSIBLE_CONFIG": str(PLAYBOOKS / "ansible.cfg"), "ANSIBLE_FORCE_COLOR": "0", "TZ": "America/New_York"}
    settings["XDG_STATE_HOME"] = str(state_home(lab))
    with subprocess.Popen(
        lab.inside_command(command, cwd=PLAYBOOKS), env=lab.environment | settings, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        yield process


def state_home(lab: Lab) -> Path:
    """What the controller keeps of rollouts is below it."""
    return lab.folder / "state"


def recorded(lab: Lab) -> list[tuple[str, str, str]]:
    """What `testbed lab rollouts` lists: id, experiment and state of each, the last one first."""
    found = rollouts.read(state_home(lab) / "testbed/rollouts")
    return [(one.rollout, one.experiment, one.state) for one in found]


def settings_of(host: Host) -> dict[str, Any]:
    """The card's active settings, and every file that a rollout may write, byte for byte."""
    state = host.state()
    found: dict[str, Any] = {name: state[name] for name in SETTINGS}
    for folder in FILES:
        for file in sorted((host.root / folder).rglob("*")):
            if file.is_file():
                found[str(file.relative_to(host.root))] = (file.read_text(), file.stat().st_mode)
    return found


def phase(host: Host) -> str:
    return str(json.loads(host.read("/var/lib/testbed/state.json"))["phase"])


def reset_attempts(host: Host) -> list[list[str]]:
    """Calls that would reset or switch off a machine or a card: there must never be one."""
    words = {"mlxfwreset", "mstfwreset", "reboot", "shutdown", "poweroff", "halt", "ipmitool"}
    return [call for call in host.calls("command") if call[0] in words or "reset" in call[1:]]
