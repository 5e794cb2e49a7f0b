"""One node of a lab, as a test sees it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.emulated_lab import counters, faults
from tests.emulated_lab.enter import enter
from tests.emulated_lab.spec import DEVICE, NodeSpec
from tests.emulated_lab.store import State, Store
from tests.support.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.emulated_lab.lab import Lab


ENVIRONMENT = ("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8")


class Host:
    """``pid`` is its process 1, as seen from outside."""

    port = 22
    device = DEVICE

    def __init__(self, spec: NodeSpec, lab: Lab, pid: int) -> None:
        self.spec, self.lab, self.pid = spec, lab, pid
        self.name = spec.name
        self.address, self.roce_address = spec.address, spec.roce_address
        self.card, self.interface, self.pci = spec.kind, spec.interface, spec.pci

    @property
    def root(self) -> Path:
        """Its file system, fake trees and all, readable and writable from outside."""
        return Path(f"/proc/{self.pid}/root")

    def run(
        self, command: Sequence[str], check: bool = True, timeout: float = PATIENCE, input: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on it, not through ssh. With check, CalledProcessError if it fails."""
        return subprocess.run(
            self.command(command), text=True, capture_output=True, check=check, timeout=timeout, input=input or ""
        )

    def command(self, command: Sequence[str]) -> list[str]:
        """The same for `subprocess.Popen`: it ends with the host at the latest."""
        return enter(self.pid, ["env", "-i", *ENVIRONMENT, *command], Path("/root"))

    def read(self, path: str) -> str:
        """A file of it."""
        return (self.root / path.lstrip("/")).read_text()

    def contains(self, path: str, text: str) -> bool:
        """Whether a file that somebody else writes is there and has this text by now."""
        file = self.root / path.lstrip("/")
        return file.exists() and text in file.read_text()

    def write(self, path: str, text: str) -> None:
        (self.root / path.lstrip("/")).write_text(text)

    @property
    def store(self) -> Store:
        """What the fakes of this host know, to be read and changed: see `tests.emulated_lab.machine`."""
        return Store(self.root / "run/lab")

    def state(self) -> State:
        return self.store.read()

    def calls(self, *kinds: str) -> list[list[str]]:
        """What commands and writes the fakes saw, in order: of these kinds (command, write, refused, field), or all."""
        lines = self.store.calls.read_text().splitlines()
        return [call["what"] for call in map(json.loads, lines) if not kinds or call["kind"] in kinds]

    def count(self, counter: str, add: int = 0, rate: float | None = None) -> None:
        """Have a counter (by name, also of ethtool) jump by ``add``, or grow by ``rate`` per second."""
        with self.store.edit() as state:
            counters.tell(state, counter, add, rate)

    def mark(self, share: float) -> None:
        """From now on this share of the packets that arrive here carries CE: see `fakes.ib_write_bw`."""
        with self.store.edit() as state:
            state["marking"] = share

    def break_file(self, name: str, error: str = "EINVAL") -> None:
        """Every read and write of files of this name fails; with "ignored", writes go well and change nothing.

        The latter also for a parameter of PPCC, by its name.
        """
        with self.store.edit() as state:
            state["faults"]["files"][name] = error

    def break_command(self, name: str, code: int = 1, text: str = "-E- broken by a test") -> None:
        """Whoever calls it gets this text on stderr and this exit code."""
        with self.store.edit() as state:
            state["faults"]["commands"][name] = {"code": code, "text": text}

    def break_pcc(self, how: str) -> None:
        """A running `doca_pcc` gets into this state: "error" or "deactivated"; then it exits with 0."""
        with self.store.edit() as state:
            state["faults"]["pcc"] = how

    def trap(self, on: str, do: str) -> None:
        """Once, right after an event ("write rpg_gd", "command mlxreg"): "kill sshd" or "power off"."""
        with self.store.edit() as state:
            state["faults"]["traps"].append({"on": on, "do": do})

    def mend(self) -> None:
        """Nothing is broken any more."""
        with self.store.edit() as state:
            state["faults"] = faults.none()

    def kill_sshd(self) -> None:
        """The server and all sessions; whatever was started apart from them goes on."""
        self.run(["pkill", "-KILL", "-x", "sshd"])

    def start_sshd(self) -> None:
        self.run(["systemctl", "start", "ssh"])
