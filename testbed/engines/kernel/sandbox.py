"""The sandbox of a run: network, mount and PID namespaces of its own, gone when this process is gone.

The run happens in a forked child that is process 1 of a PID namespace. The kernel kills it when its parent dies, and
with process 1 every process, namespace, link and mount inside goes. Nothing is ever visible outside.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import NoReturn

from testbed.base import linux
from testbed.engines.messages import send_failure
from testbed.engines.process import RunProcess, prepare_child

log = logging.getLogger(__package__)
BPFFS = "/sys/fs/bpf"


class Sandbox(RunProcess):
    """Runs ``work(connection)`` inside, without some open files. What it sends arrives here through `messages`."""

    def __init__(self, work: Callable[[Connection], None], without: Iterable[int] = ()) -> None:
        super().__init__(work, without)
        log.info("sandbox made", extra={"pid": self.pid, "namespaces": "net,mount,pid"})

    def run_child(self, work: Callable[[Connection], None], connection: Connection, parent: int) -> NoReturn:
        """Enter the namespaces and fork once more, for a PID namespace begins with the next child."""
        _outer_child(work, connection, parent)

    def wait(self) -> str:
        end = super().wait()
        log.info("sandbox ended", extra={"pid": self.pid, "by": end})
        return end


def _outer_child(work: Callable[[Connection], None], connection: Connection, parent: int) -> NoReturn:
    try:
        prepare_child(parent)
        linux.unshare(linux.CLONE_NEWNET | linux.CLONE_NEWNS | linux.CLONE_NEWPID)
        lifeline = linux.Lifeline()
        pid = os.fork()
        if pid == 0:
            _first_process(work, connection, lifeline)
        connection.close()
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os._exit(code if code >= 0 else 128 - code)  # 137 is known as killed, for lack of memory mostly
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent must get it
        send_failure(connection, error)
        os._exit(1)


def _first_process(work: Callable[[Connection], None], connection: Connection, lifeline: linux.Lifeline) -> None:
    try:
        lifeline.die_with_parent()
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
