"""An emulated lab: hosts with cards, as network namespaces with an sshd each, that behave as real ones would.

    with Lab(cards=["bf3", "cx7"]) as lab:
        lab.inside(["ansible-playbook", "-i", str(lab.inventory), "site.yml"])

All of it lives in network, mount and PID namespaces of its own, which the kernel removes with the lab's process. Its
keys are in a folder, which the lab removes; that of a lab which was killed goes when the next one starts (`folder`).
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from testbed.engines.kernel.sandbox import Sandbox
from testbed.errors import TestbedError
from tests.emulated_lab import folder, init, inventory, keys, machine_room, rootfs
from tests.emulated_lab.enter import children, enter, pid_outside, wait_until_gone
from tests.emulated_lab.fakes import server
from tests.emulated_lab.host import Host
from tests.emulated_lab.spec import DEFAULT, HostSpec, nodes
from tests.support.waiting import PATIENCE

Made = TypeVar("Made")


class Lab:
    """``cards``: one host each. ``switches``: the first one connects the hosts' RoCE interfaces.

    Needs root, OpenSSH's server and FUSE. Raises TestbedError if a node does not boot.
    """

    def __init__(self, cards: Sequence[str | HostSpec] = DEFAULT, switches: Sequence[str] = ("sonic",)):
        self.specs = nodes(list(cards), list(switches))
        if not switches:
            raise ValueError("a lab has at least one switch, for its hosts to be plugged into")

    def __enter__(self) -> Self:
        _check_machine()
        folder.remove_abandoned()
        self._folder = folder.LabFolder()
        self.folder = self._folder.path
        self.pid = 0  # process 1 of the lab, as seen from here
        self._kept: dict[object, Any] = {}
        self._ends = ExitStack()
        try:
            self._start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if (sandbox := getattr(self, "_sandbox", None)) is not None:
            sandbox.kill()
            sandbox.connection.close()
            wait_until_gone(self.pid)
        self._ends.close()
        self._folder.remove()

    def _start(self) -> None:
        server.CLIENT.compiled()  # once, before all nodes ask for it
        self.key, self.known_hosts = keys.make(self.folder, self.specs)
        self.ssh_config = inventory.write_ssh_config(self.folder, self.specs)
        self.inventory = inventory.write(self.folder, self.specs)
        self._sandbox = Sandbox(lambda connection: machine_room.become(self.specs, self.folder, connection))
        self._messages: Iterator[tuple[str, Any]] = self._sandbox.messages()
        pids = next(self._messages)[1]
        self.pid = children(self._sandbox.pid)[0]
        everyone = [Host(spec, self, pid_outside(self.pid, pids[spec.name])) for spec in self.specs]
        self.hosts = [host for host in everyone if not host.spec.is_switch]
        self.switches = [host for host in everyone if host.spec.is_switch]

    @property
    def ssh_arguments(self) -> str:
        """Ansible's, which asks a host for a task at a time, and logs in once."""
        return f"-F {self.ssh_config} -o ControlMaster=auto -o ControlPersist=60s -o ControlPath={self.folder}/%C"

    @property
    def environment(self) -> dict[str, str]:
        """What ssh and Ansible need to find the lab's keys and hosts."""
        return {
            **os.environ,
            "ANSIBLE_HOME": str(self.folder / "ansible"),
            "ANSIBLE_HOST_KEY_CHECKING": "True",
            "ANSIBLE_INVENTORY": str(self.inventory),
            "ANSIBLE_SSH_ARGS": self.ssh_arguments,
            "PYTHONPATH": str(init.PYTHON),
            "LAB_PYCACHE": str(rootfs.pycache()),
        }

    def inside(
        self,
        command: Sequence[str],
        cwd: Path | str | None = None,
        check: bool = True,
        timeout: float = PATIENCE,
        environment: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command where the management network is; with check, CalledProcessError if it fails."""
        return subprocess.run(
            self.inside_command(command, cwd), env={**self.environment, **(environment or {})}, text=True,
            capture_output=True, stdin=subprocess.DEVNULL, check=check, timeout=timeout,
        )  # fmt: skip

    def inside_command(self, command: Sequence[str], cwd: Path | str | None = None) -> list[str]:
        """The same for `subprocess.Popen` (with `environment`): it ends with the lab at the latest."""
        return enter(self.pid, command, Path(cwd or Path.cwd()))

    def keep(self, make: Callable[[Lab], AbstractContextManager[Made]]) -> Made:
        """What is made once, when somebody first needs it, and ended after the lab's processes."""
        if make not in self._kept:
            self._kept[make] = self._ends.enter_context(make(self))
        kept: Made = self._kept[make]
        return kept

    def ssh(
        self, host: str, *command: str, check: bool = True, timeout: float = PATIENCE
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on a host through its sshd, as everybody else has to."""
        return self.inside(["ssh", "-F", str(self.ssh_config), host, *command], check=check, timeout=timeout)

    def power_off(self, name: str) -> None:
        """Pull the plug: every process of the host is gone at once."""
        self.order("power_off", name)

    def power_on(self, name: str) -> None:
        """Boot a host that is off or that died."""
        self._boot("power_on", name)

    def reboot(self, name: str) -> None:
        """As by the reset button: the card never is without power, so NVConfig stays, and a loader leaves a ghost."""
        self._boot("reboot", name)

    def power_cycle(self, name: str) -> None:
        """Off and on again: staged NVConfig is active; run-time settings and leftovers on the DPA are gone."""
        self.power_off(name)
        self.power_on(name)

    def _boot(self, order: str, name: str) -> None:
        pid = self.order(order, name)
        host = next(host for host in [*self.hosts, *self.switches] if host.name == name)
        host.pid = pid_outside(self.pid, pid)

    def order(self, what: str, name: str) -> Any:
        """Have the machine room do something."""
        self._sandbox.connection.send((what, name))
        return next(self._messages)[1]


def _check_machine() -> None:
    """Raises TestbedError that names what is missing."""
    missing = [
        what
        for what, there in {
            "root": os.geteuid() == 0,
            "openssh-server (sshd)": shutil.which("sshd", path="/usr/sbin:/usr/bin"),
            "openssh-client (ssh)": shutil.which("ssh"),
            "/dev/fuse": Path("/dev/fuse").exists(),
            "the Python package mfusepy": importlib.util.find_spec("mfusepy"),
        }.items()
        if not there
    ]
    if missing:
        raise TestbedError(f"a lab needs {', '.join(missing)}; `scripts/setup --tests` installs what can be installed")
