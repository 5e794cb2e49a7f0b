"""Runs experiments over the emulated lab, as a user does."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from testbed.base import linux
from testbed.engines.lab.host.interface import Interface, InterfaceState
from tests.emulated_lab.host import Host
from tests.emulated_lab.lab import Lab
from tests.support.checkout import ROOT
from tests.support.commands import Command

RATE = 10e6  # bit/s: what a sender of the emulated lab may send


def inventory(lab: Lab, name: str = "lab.yml", hosts: Sequence[Host] = (), **variables: object) -> Path:
    """The lab's own inventory, or ``hosts`` of it, and what a run needs besides; ``variables`` are of all hosts."""
    group: dict[str, Any] = yaml.safe_load(lab.inventory.read_text())["all"]["children"]["roce_hosts"]
    names = [host.name for host in hosts or lab.hosts]
    # 4791: what marks in the emulated switch is the rack's port program, which knows RoCE's port only
    found = {name: {**group["hosts"][name], "testbed_udp_port": 4791, **variables} for name in names}
    file = lab.folder / name
    file.write_text(yaml.safe_dump({"all": {"children": {"roce_hosts": {**group, "hosts": found}}}}))
    return file


@contextmanager
def running(lab: Lab, file: Path, out: Path, *arguments: str) -> Iterator[Command]:
    """`testbed run` with two senders and figures in JSON, going on."""
    asked = ("run", "incast-2", "--inventory", str(file), "--out", str(out), "--set", "record.interval=10 ms")
    process = Command(*asked, "--format", "json", *arguments, cwd=ROOT, netns=lab.pid, **lab.environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def agents(host: Host) -> list[int]:
    """Processes of `testbed agent` there, in its own numbers; the one that talks first, then the one that sends."""
    found = host.run(["pgrep", "-f", "testbed agent"], check=False).stdout
    return [int(word) for word in found.split()]


def sent(host: Host) -> int:
    """Packets that its interface has sent."""
    lines = host.run(["cat", "/proc/net/dev"]).stdout.splitlines()
    (found,) = [line.split() for line in lines if line.lstrip().startswith(f"{host.interface}:")]
    return int(found[10])


def state(host: Host) -> InterfaceState:
    """What is on its interface."""
    netns = os.open(f"/proc/{host.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        with linux.inside(netns):
            return Interface(host.interface).state()
    finally:
        os.close(netns)
