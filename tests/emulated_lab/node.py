"""Boots one node: namespaces of its own, its root file system, and process 1."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

from testbed.base import linux
from testbed.errors import TestbedError
from tests.emulated_lab import init, mounts, rootfs
from tests.emulated_lab.fakes import server
from tests.emulated_lab.spec import NodeSpec

CLONES = linux.CLONE_NEWNET | linux.CLONE_NEWNS | mounts.CLONE_NEWUTS | mounts.CLONE_NEWIPC


@dataclass
class Boot:
    """A node that is booting; ``pid`` as seen by whoever started it."""

    spec: NodeSpec
    pid: int
    connection: Connection

    def wait_for(self, stage: str) -> None:
        """Raises TestbedError with the node's error if it fails before."""
        try:
            received = self.connection.recv()
        except EOFError:
            received = "it died"
        if received != stage:
            raise TestbedError(f"lab: {self.spec.name} did not boot: {received}")

    def go_on(self) -> None:
        self.connection.send("go on")

    def close(self) -> None:
        self.connection.close()


def start(spec: NodeSpec, everyone: list[NodeSpec], folder: Path, how: str) -> Boot:
    """Fork the node's process 1. ``how``: see `init.main`."""
    ours, theirs = Pipe()
    home = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    linux.unshare(linux.CLONE_NEWPID)  # for children
    pid = os.fork()
    if pid == 0:
        ours.close()
        _process_one(spec, everyone, folder, how, theirs)
    linux.setns(home, linux.CLONE_NEWPID)
    os.close(home)
    theirs.close()
    return Boot(spec, pid, ours)


def _process_one(spec: NodeSpec, everyone: list[NodeSpec], folder: Path, how: str, connection: Connection) -> None:
    try:
        linux.die_with_parent(0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        linux.unshare(CLONES)
        linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
        connection.send("namespaces")
        connection.recv()
        key = (folder / "id_ed25519.pub").read_text()
        host_key = (folder / f"{spec.name}.key").read_bytes()
        client = server.CLIENT.compiled().read_bytes()
        rootfs.build(folder / "nodes" / spec.name, card=not spec.is_switch)
        if how == init.NEW:
            rootfs.write_identity(spec, everyone, key, host_key)
        mounts.set_hostname(spec.name)
        mounts.set_process_name("systemd")
        init.main(spec, how, client, ready=lambda: connection.send("up"))
    except BaseException:  # noqa: BLE001 - whatever it is, the lab must know
        connection.send(traceback.format_exc())
    finally:
        sys.stderr.flush()
        os._exit(1)
