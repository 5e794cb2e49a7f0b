"""The sandbox of a run: network, mount and PID namespaces of its own, gone when this process is gone.

The run happens in a forked child that is process 1 of a PID namespace. The kernel kills it when its parent dies, and
with process 1 every process, namespace, link and mount inside goes. Nothing is ever visible outside.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection, Pipe
from typing import Any

from testbed.base import linux
from testbed.engines.messages import send_failure
from testbed.errors import TestbedError

log = logging.getLogger(__package__)
BPFFS = "/sys/fs/bpf"


class Sandbox:
    """Runs ``work(connection)`` inside, without some open files. What it sends arrives here through `messages`."""

    def __init__(self, work: Callable[[Connection], None], without: Iterable[int] = ()) -> None:
        self.connection, theirs = Pipe()
        self._ended = False
        parent = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the child must not receive it before it ignores it
        self.pid = os.fork()
        if self.pid == 0:
            self.connection.close()
            for descriptor in without:
                os.close(descriptor)
            _outer_child(work, theirs, parent)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        theirs.close()
        log.info("sandbox made", extra={"pid": self.pid, "namespaces": "net,mount,pid"})

    def messages(self) -> Any:
        """Yields what the run sends until it is done. Raises TestbedError if it failed or died."""
        while True:
            try:
                kind, content = self.connection.recv()
            except (EOFError, ConnectionResetError):
                raise TestbedError(f"the run's process died ({self._wait()}); nothing of it is left") from None
            if kind == "failed":
                raise content
            if kind == "done":
                self._wait()
                return
            yield kind, content

    def ask_to_stop(self, reason: str) -> None:
        """Ask the run to end early and to report what it has."""
        with contextlib.suppress(OSError):
            self.connection.send(reason)

    def kill(self) -> None:
        """Kill it now."""
        if not self._ended:
            os.kill(self.pid, signal.SIGKILL)
            self._wait()

    def _wait(self) -> str:
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self._ended = True  # from now on the number may be another process's
        end = f"signal {-code}" if code < 0 else f"exit code {code}"
        log.info("sandbox ended", extra={"pid": self.pid, "by": end})
        return end


def _outer_child(work: Callable[[Connection], None], connection: Connection, parent: int) -> None:
    """Enter the namespaces and fork once more, for a PID namespace begins with the next child; never returns."""
    try:
        linux.die_with_parent(parent)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.dup2(2, 1)  # stdout is for results: what a plugin prints goes to stderr
        sys.stdout = sys.stderr
        linux.unshare(linux.CLONE_NEWNET | linux.CLONE_NEWNS | linux.CLONE_NEWPID)
        this = os.getpid()
        pid = os.fork()
        if pid == 0:
            _first_process(work, connection, this)
        connection.close()
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os._exit(code if code >= 0 else 128 - code)  # 137 is known as killed, for lack of memory mostly
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent must get it
        send_failure(connection, error)
        os._exit(1)


def _first_process(work: Callable[[Connection], None], connection: Connection, parent: int) -> None:
    try:
        # Process 1 has no parent inside its namespace: getppid() is 0 until the parent is gone as well.
        linux.die_with_parent(0 if os.getpid() == 1 else parent)
        _mount()
        work(connection)
        connection.send(("done", None))
    except BaseException as error:  # noqa: BLE001 - as above
        send_failure(connection, error)
    finally:
        os._exit(0)


def _mount() -> None:
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("proc", "/proc", "proc")
    linux.mount("sysfs", "/sys", "sysfs")
    linux.mount("bpf", BPFFS, "bpf")
