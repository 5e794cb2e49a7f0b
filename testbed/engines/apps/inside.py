"""What a process of a host sees: the host's network, its name, and the names of the others."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterable
from pathlib import Path

from testbed.base import linux

NO_NAME_SERVER = "# no name server in a rack: asking for one would be traffic\n"
LOOPBACK = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n"


def hosts_file(addresses: Iterable[tuple[str, str]]) -> str:
    """`/etc/hosts`: of each host its name and its address."""
    return LOOPBACK + "".join(f"{address} {name}\n" for name, address in addresses)


def become(netns: int, name: str, hosts: str) -> None:
    """Have this process, which must be a fork, be one of a host; it keeps the machine's files."""
    linux.setns(netns, linux.CLONE_NEWNET)
    linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWUTS)
    socket.sethostname(name)
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("proc", "/proc", "proc")  # of these namespaces
    linux.mount("sysfs", "/sys", "sysfs")
    for path, text in (("/etc/hosts", hosts), ("/etc/resolv.conf", NO_NAME_SERVER)):
        if Path(path).exists():
            _show(text, path)


def _show(text: str, path: str) -> None:
    """In place of a file; nothing is left of it when the namespace is gone."""
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(text)
        file.flush()
        os.fchmod(file.fileno(), 0o644)
        linux.mount(file.name, path, None, linux.MS_BIND)
