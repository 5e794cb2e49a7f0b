"""Runs experiments over the emulated lab, as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
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


def command(file: Path, out: Path, *arguments: str) -> list[str]:
    """`testbed run` with two senders and figures in JSON."""
    return [
        sys.executable, "-m", "testbed", "run", "incast-2", "--inventory", str(file), "--out", str(out),
        "--set", "record.interval=10 ms", "--format", "json", *arguments,
    ]  # fmt: skip


def run(lab: Lab, file: Path, out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One run, to its end."""
    return lab.inside(command(file, out, "--metrics-addr", "none", *arguments), cwd=ROOT, check=False)


@contextmanager
def running(lab: Lab, file: Path, out: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """One run, going on."""
    process = subprocess.Popen(
        lab.inside_command(command(file, out, *arguments), ROOT), env=lab.environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(process: subprocess.Popen[str], line: str) -> str:
    """Read its stderr until a line contains this; returns all that was read."""
    seen = ""
    assert process.stderr is not None
    for text in process.stderr:
        seen += text
        if line in text:
            return seen
    raise AssertionError(f"'{line}' was never printed:\n{seen}")


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
