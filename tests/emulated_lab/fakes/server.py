"""Runs a host's short commands in forks of one process that has imported them all; see client.c, who asks for it."""

from __future__ import annotations

import fcntl
import importlib
import os
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from testbed.base import compiler, linux
from tests.emulated_lab import mounts
from tests.emulated_lab.fakes import entry

FOLDER = Path("/run/lab-fakes")
Call = Callable[[str, int], int]
MOST = 1 << 17  # bytes of folder and arguments
CLIENT = compiler.Unit(
    "lab-client", (Path(__file__).with_name("client.c"),), "", ("-O2", "-Wall", "-Wextra", "-Werror")
)


def start(modules: dict[str, str]) -> None:
    """Returns when it can be asked; it ends with this process. ``modules``: the programs' own, by name."""
    FOLDER.mkdir(mode=0o755)
    listening = listen(FOLDER / "socket")
    this = os.getpid()
    if os.fork() == 0:
        linux.die_with_parent(this)
        mounts.set_process_name("fakes")
        for module in entry.SHORT:
            importlib.import_module(f"tests.emulated_lab.fakes.{module}")
        serve(listening, lambda name, _: entry.run(name, modules[name]))
    listening.close()


def listen(path: Path) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(str(path))
    path.chmod(0o777)
    listening.listen(100)
    return listening


def serve(listening: socket.socket, call: Call) -> NoReturn:
    """``call`` gets the program's name and the number of the process that it stands for, and returns an exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    while True:
        asking, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _run(asking, call)
        asking.close()


def _run(asking: socket.socket, call: Call) -> None:
    """In the fork; never returns."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        message, streams, _, _ = socket.recv_fds(asking, MOST, 3)
        folder, *words = message.decode(errors="surrogateescape").split("\0")[:-1]
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        files = [open(number, mode, closefd=False) for number, mode in enumerate("rww")]  # noqa: SIM115 - until it ends
        sys.stdin, sys.stdout, sys.stderr = files  # those of the lab are others: its stdout is its stderr
        _end_with(asking)
        asker = _enter(asking)
        os.chdir(folder)
        sys.argv = words
        code = call(words[0], asker)
        sys.stdout.flush()
    except SystemExit as end:  # argparse
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001 - as Python would: whoever called it sees why
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        asking.send(bytes([code]))
        os._exit(0)


def _enter(asking: socket.socket) -> int:
    """See the files that the command sees, for a unit's sandbox has a mount namespace of its own; as the same user.

    Returns the command's process.
    """
    credentials = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, user, group = struct.unpack("3i", credentials)
    theirs = Path(f"/proc/{pid}/ns/mnt")
    if theirs.readlink() != Path("/proc/self/ns/mnt").readlink():
        namespace = os.open(theirs, os.O_RDONLY)
        linux.setns(namespace, linux.CLONE_NEWNS)
        os.close(namespace)
    if user:
        os.setgroups([])
        os.setgid(group)
        os.setuid(user)
    return int(pid)


def _end_with(asking: socket.socket) -> None:
    """Whoever kills the command ends us: its end of the connection closes."""
    fcntl.fcntl(asking, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(asking, 10, signal.SIGTERM)  # F_SETSIG
    fcntl.fcntl(asking, fcntl.F_SETFL, fcntl.fcntl(asking, fcntl.F_GETFL) | os.O_ASYNC)
