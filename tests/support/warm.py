"""``python -m tests.support.warm WORKERS ...``: pytest, whose workers are forks of a process that has imported most of
what they import, and so are the processes that they fork commands from, see `tests.support.commands`.

What is to be such a fork is started as `warm_python` instead of Python.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import json
import os
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from testbed.base import linux

PYTHON = Path(__file__).with_name("warm_python")
MOST = 1 << 17  # bytes of words and environment
MODULES = [
    "tests.support.preloaded",
    "playwright.sync_api",
    "scapy.contrib.roce",
    "scapy.layers.inet6",
    "jinja2",
    "jsonschema",
]


def fork(listening: socket.socket) -> str:
    """One for each that asks; it is there that this returns: what is to be run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who is asked for ends as pytest does
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks that wait
    while True:
        asking, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            if (process := os.fork()) == 0:
                return take(asking)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            asking.send(str(code % 256).encode())
            os._exit(0)
        asking.close()


def take(asking: socket.socket) -> str:
    """Be whoever asks: its files, folder and environment. Returns its program."""
    message, files, _, _ = socket.recv_fds(asking, MOST, 64)
    asking.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    asked = json.loads(message)
    for file, number in zip([fcntl.fcntl(file, fcntl.F_DUPFD, 100) for file in files], asked["files"], strict=True):
        os.dup2(file, number)
        os.close(file)
    for file in set(files) - set(asked["files"]):
        os.close(file)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    show(asked["environment"])
    sys.argv = ["-c"]
    return str(asked["words"][-1])


def show(environment: dict[str, str]) -> None:
    """In /proc, where `tests.support.census` looks for who belongs to its session; what was set last, if room lacks."""
    begin, end = map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[47:49])
    said = "\0".join(f"{name}={value}" for name, value in reversed(environment.items()))
    ctypes.memmove(begin, os.fsencode(said).ljust(end - begin, b"\0"), end - begin)


if __name__ == "__main__":
    this, workers, *arguments = os.getpid(), *sys.argv[1:]
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(os.environ["TESTBED_WARM_PYTHON"])
    listening.listen()
    if os.fork():
        listening.close()
        sys.exit(pytest.main(["--tx", f"{workers}*popen//python={PYTHON}", *arguments]))
    linux.die_with_parent(this)
    for module in MODULES:
        import_module(module)
    gc.freeze()
    program = fork(listening)
    sys.modules["__main__"] = main = ModuleType("__main__")
    exec(program, main.__dict__)
