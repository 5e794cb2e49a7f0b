"""Running a command in a host or a switch of a rack that runs.

The command becomes a process of the run's PID namespace: when the run ends, the kernel ends the command with it, so
that a forgotten shell keeps nothing alive. It has the machine's own files and not what the run's mount namespace shows,
but for `/etc/hosts`.
"""

from __future__ import annotations

import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

from testbed.base import linux
from testbed.engines.apps.inside import become, hosts_file
from testbed.engines.nodes import RackNode, RunningRack
from testbed.errors import TestbedError

CANNOT_RUN = 127  # a shell's exit code for a command that it cannot start


def enter(rack: RunningRack, node: RackNode, command: list[str], environment: Mapping[str, str]) -> int:
    """Run the command there, on this terminal: the last thing that a process does, since it becomes no usual one again.

    Returns the command's exit code. Raises TestbedError if the run ends first.
    """
    said, say = os.pipe()
    hosts = hosts_file([(one.name, one.address) for one in rack.nodes if one.address])
    gone = TestbedError(f"'{rack.name}' has ended, and with it what ran in {node.name}")
    with _namespaces(rack, node) as (netns, pidns), _terminal():
        # Nobody waits for the child, so that the end of its namespace does not wait for us: we may be stopped (Ctrl-Z).
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        linux.setns(pidns, linux.CLONE_NEWPID)  # for children
        lifeline = linux.Lifeline()
        try:
            child = os.fork()
        except OSError:  # there is no process 1 any more
            raise gone from None
        if child == 0:
            os.close(said)
            _supervise(partial(become, netns, node.name, hosts), command, environment, say, lifeline)
        os.close(say)
        os.close(netns)
        os.close(pidns)
        code = os.read(said, 1)
    if not code:
        raise gone
    return code[0]


@contextmanager
def _namespaces(rack: RunningRack, node: RackNode) -> Iterator[tuple[int, int]]:
    try:
        netns = os.open(f"fd/{node.netns}", os.O_RDONLY, dir_fd=rack.process)
        pidns = os.open("ns/pid", os.O_RDONLY, dir_fd=rack.process)
    except OSError:
        raise TestbedError(f"'{rack.name}' has just ended") from None
    yield netns, pidns


@contextmanager
def _terminal() -> Iterator[None]:
    """Keys that end or stop are the command's. Afterwards the terminal is as it was: a killed shell leaves it raw."""
    ignored = [signal.SIGINT, signal.SIGQUIT, signal.SIGTTOU]
    before = [signal.signal(number, signal.SIG_IGN) for number in ignored]
    settings = termios.tcgetattr(0) if os.isatty(0) else None
    try:
        yield
    finally:
        if settings is not None:
            with suppress(OSError, termios.error):  # it may have been closed
                os.tcsetpgrp(0, os.getpgrp())
                termios.tcsetattr(0, termios.TCSADRAIN, settings)
        for number, handler in zip(ignored, before, strict=True):
            signal.signal(number, handler)


def _supervise(
    inside: Callable[[], None], command: list[str], environment: Mapping[str, str], say: int, lifeline: linux.Lifeline
) -> None:
    """In the run's PID namespace: start the command, and tell its exit code. Never returns."""
    try:
        lifeline.die_with_parent()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        this, pid = os.getpid(), os.fork()
        if pid == 0:
            _execute(inside, command, environment, this)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(say, bytes([code if code >= 0 else 128 - code]))
    finally:
        os._exit(0)


def _execute(inside: Callable[[], None], command: list[str], environment: Mapping[str, str], parent: int) -> None:
    """Never returns."""
    try:
        linux.die_with_parent(parent)
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTTOU, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        inside()
        os.execvpe(command[0], command, environment)
    except OSError as error:
        print(f"testbed: {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
    finally:
        os._exit(CANNOT_RUN)
