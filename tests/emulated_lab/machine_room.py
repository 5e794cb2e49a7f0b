"""The inside of a lab: process 1 of its namespaces, which boots nodes and cuts their power on request."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import traceback
from dataclasses import asdict, dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from testbed.errors import TestbedError
from tests.emulated_lab import init, mounts, node, wires
from tests.emulated_lab.enter import enter
from tests.emulated_lab.fakes import entry
from tests.emulated_lab.host import ENVIRONMENT
from tests.emulated_lab.spec import PORT_RATE, NodeSpec
from tests.support import census
from tests.support.checkout import ROOT

PROGRAM = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.emulated_lab import machine_room
machine_room.main()
"""


def become(specs: list[NodeSpec], folder: Path, connection: Connection) -> NoReturn:
    """Have this process be the machine room of these nodes, as a new program.

    A node's process 1, its units and its commands are all forks of it, and a fork costs what it copies: a test's
    process has ten times as much as is needed here.
    """
    os.set_inheritable(connection.fileno(), True)
    environment = dict(os.environ)
    if f"{census.MARK}=".encode() not in Path("/proc/self/environ").read_bytes():
        environment.pop(census.MARK, None)  # what a test boots again in a lab of several, it has not left behind
    told = json.dumps([asdict(spec) for spec in specs])
    command = [sys.executable, "-P", "-c", PROGRAM, str(connection.fileno()), str(folder), told]
    os.execve(sys.executable, command, environment)


def main() -> NoReturn:
    """The new program."""
    connection = Connection(int(sys.argv[1]))
    try:
        for module in ("cardfs", *(f"fakes.{module}" for module in entry.SHORT)):
            import_module(f"tests.emulated_lab.{module}")
        gc.freeze()
        MachineRoom([NodeSpec(**spec) for spec in json.loads(sys.argv[3])], Path(sys.argv[2])).serve(connection)
        connection.send(("done", None))
    except TestbedError as error:
        connection.send(("failed", error))
    except BaseException:  # noqa: BLE001 - whatever it is, the lab must know
        connection.send(("failed", TestbedError(traceback.format_exc())))
    finally:
        os._exit(0)


@dataclass
class MachineRoom:
    """``folder``: the lab's, with its keys. Nodes keep what they write in a tmpfs that only lives in here."""

    specs: list[NodeSpec]
    folder: Path
    pids: dict[str, int] = field(default_factory=dict)

    def serve(self, connection: Connection) -> None:
        """Boot everything, then carry out requests until the lab stops."""
        self._stores = self.folder / "nodes"
        self._stores.mkdir()
        mounts.mount("tmpfs", self._stores, "tmpfs", data="mode=755")
        wires.management_bridge()
        self._boot(self.specs, init.NEW)
        connection.send(("ready", self.pids))
        while True:
            order, name = connection.recv()
            if order == "stop":
                return
            answer = getattr(self, f"_{order}")(name)
            connection.send(("done-it", answer))

    def _power_off(self, name: str) -> None:
        pid = self.pids.pop(name, None)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)  # process 1 of the node: the kernel ends all others with it
            os.waitpid(pid, 0)
            spec = next(spec for spec in self.specs if spec.name == name)
            wires.unplug(spec, self._switch_of(spec))

    def _power_on(self, name: str) -> int:
        """Boot a node that is off. Returns its process 1, as seen in here."""
        return self._again(name, init.POWER_ON)

    def _reboot(self, name: str) -> int:
        """End it and boot it, with the card never without power."""
        self._power_off(name)
        return self._again(name, init.REBOOT)

    def _again(self, name: str, how: str) -> int:
        if name in self.pids:
            self._power_off(name)  # it may have died by itself
        self._boot([spec for spec in self.specs if spec.name == name], how)
        return self.pids[name]

    def _boot(self, specs: list[NodeSpec], how: str) -> None:
        boots = []
        for spec in sorted(specs, key=lambda spec: not spec.is_switch):  # links need something to be plugged into
            boot = node.start(spec, self.specs, self.folder, how)
            self.pids[spec.name] = boot.pid
            boots.append(boot)
        for boot in boots:
            boot.wait_for("namespaces")
            if boot.spec.is_switch:
                wires.switch_bridge(boot.pid)
            wires.plug(boot.spec, boot.pid, self._switch_of(boot.spec))
            boot.go_on()
        for boot in boots:
            boot.wait_for("up")
            boot.close()
        self._make_ports([spec for spec in specs if not spec.is_switch])

    def _make_ports(self, plugged: list[NodeSpec]) -> None:
        """What hosts were just plugged into: the testbed's own switch needs its operator's command for them."""
        switch = next(spec for spec in self.specs if spec.is_switch)
        if switch.kind != "testbed" or not plugged:
            return
        command = ["testbed", "switch", "attach", *map(switch.port, plugged), "--rate", PORT_RATE]
        inside = enter(self.pids[switch.name], ["env", "-i", *ENVIRONMENT, *command], Path("/root"))
        done = subprocess.run(inside, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise TestbedError(f"lab: {switch.name}: {done.stderr.strip()}")

    def _switch_of(self, spec: NodeSpec) -> tuple[NodeSpec, int] | None:
        """What its RoCE interface is plugged into: the first switch."""
        switch = next(other for other in self.specs if other.is_switch)
        return None if spec.is_switch else (switch, self.pids[switch.name])
