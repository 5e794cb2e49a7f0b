"""The host's Python for Ansible's modules: forks of one that has imported what all of them import of Ansible.

A module comes on stdin with all that it imports in a zip, and importing that is two thirds of what a task costs a host.
What is imported here is Ansible's own part, of the same version; the module and its other parts come from the zip.
"""

from __future__ import annotations

import atexit
import importlib
import os
import socket
import sys
import types
from pathlib import Path

NAME, FALLBACK = "lab-python3", '#!/bin/sh\nexec /usr/bin/python3 "$@"\n'  # as client.c has it
PROGRAM = Path("/usr/libexec") / NAME
SHARED = ("ansible.module_utils._internal._ansiballz._loader", "base64", "runpy", "shutil", "tempfile", "zipfile")


def preload(ansible: str) -> None:
    """``ansible``: the package's folder on this machine. Its own modules are not the host's: the zip has them."""
    package = types.ModuleType("ansible")
    package.__path__, package.__file__ = [ansible], f"{ansible}/__init__.py"
    sys.modules["ansible"] = package
    for module in SHARED:
        importlib.import_module(module)
    del sys.modules["ansible"], sys.modules["ansible.module_utils"]


def run(_name: str, asker: int) -> int:
    """What Python does with a program on its stdin, in the environment of the process that it stands for."""
    given = os.fsencode(Path(f"/proc/{asker}/environ").read_bytes())
    os.environ.clear()
    os.environb.update(line.split(b"=", 1) for line in given.split(b"\0") if b"=" in line)
    sys.argv = [""]
    sys.modules["__main__"].__dict__.pop("__file__", None)
    try:
        exec(compile(sys.stdin.read(), "<stdin>", "exec"), sys.modules["__main__"].__dict__)
    finally:
        atexit._run_exitfuncs()
    return 0


if __name__ == "__main__":
    checkout, ansible, parent, listening = sys.argv[1:]
    own = list(sys.path)
    sys.path.insert(0, checkout)
    from testbed.base import linux
    from tests.emulated_lab import mounts
    from tests.emulated_lab.fakes import server

    sys.path[:] = own
    linux.die_with_parent(int(parent))
    mounts.set_process_name("warm_python")
    preload(ansible)
    server.serve(socket.socket(fileno=int(listening)), run)
