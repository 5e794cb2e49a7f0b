"""A command in a node of somebody's rack: where it is, what it says, and that it never outlives or holds up the run."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support.commands import command
from tests.support.entered import published
from tests.support.outside import TESTBED
from tests.support.waiting import PATIENCE, until

pytestmark = [pytest.mark.root, pytest.mark.parallel]


def enter(run: str, node: str, *what: str) -> CompletedProcess[str]:
    return command("shell", run, node, "--", *what)


def test_the_namespaces() -> None:
    """Network and processes are the rack's, /sys and /proc show them; files are the machine's."""
    with published("enter-spaces"):
        host = enter("enter-spaces", "h1", "sh", "-c", "readlink /proc/self/ns/net; echo $$; ls /sys/class/net")
        switch = enter("enter-spaces", "s1", "readlink", "/proc/self/ns/net")
        assert (host.returncode, switch.returncode) == (0, 0)
        space, pid, *links = host.stdout.split()
        assert len({space, switch.stdout.strip(), str(Path("/proc/self/ns/net").readlink())}) == 3
        assert int(pid) < 20  # process 1 is the run's
        assert links == ["lo"]
        assert "10.0.0.1 h1\n" in enter("enter-spaces", "h1", "cat", "/etc/hosts").stdout
        assert "no name server" in enter("enter-spaces", "h1", "cat", "/etc/resolv.conf").stdout
        assert enter("enter-spaces", "h1", "cat", __file__).stdout == Path(__file__).read_text()


@pytest.mark.parametrize(
    ("what", "code"), [(["true"], 0), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -TERM $$"], 143)]
)
def test_the_exit_code_is_the_commands(what: list[str], code: int) -> None:
    with published("enter-code"):
        done = enter("enter-code", "h1", *what)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_a_command_that_does_not_exist() -> None:
    with published("enter-missing"):
        done = enter("enter-missing", "h1", "tcpdmp", "-n")
    assert (done.returncode, done.stderr) == (127, "testbed: tcpdmp: No such file or directory\n")


@pytest.mark.parametrize("stopped", [False, True], ids=["waiting", "stopped"])
def test_the_run_ends_first(stopped: bool) -> None:
    """Its end waits for nobody, even for somebody who has pressed Ctrl-Z; nothing lives on."""
    with published("enter-end") as sandbox:
        arguments = [*TESTBED, "shell", "enter-end", "h1", "--", "sh", "-c", "echo here; sleep 1000 & wait"]
        entered = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert entered.stdout is not None
        assert entered.stdout.readline() == "here\n"
        if stopped:
            os.kill(entered.pid, signal.SIGSTOP)
        sandbox.ask_to_stop("")
        began = time.monotonic()
        assert list(sandbox.messages()) == []
        assert time.monotonic() - began < PATIENCE
        os.kill(entered.pid, signal.SIGCONT)
        said = entered.communicate(timeout=PATIENCE)[1]
    assert entered.returncode == 1
    assert said == "testbed: 'enter-end' has ended, and with it what ran in h1\n"


def test_whoever_entered_is_killed() -> None:
    """What was started goes with it; the run does not care."""
    with published("enter-kill") as sandbox:
        arguments = [*TESTBED, "shell", "enter-kill", "h1", "--", "sh", "-c", "echo $$; exec sleep 1000"]
        entered = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert entered.stdout is not None
        entered.stdout.readline()
        entered.kill()
        entered.wait()
        assert entered.stdout.read() == ""  # nobody holds the other end any more
        entered.stdout.close()
        sandbox.ask_to_stop("")
        assert list(sandbox.messages()) == []


def test_a_shell_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the host, and Ctrl-C ends what runs in it, not the shell."""
    monkeypatch.setenv("SHELL", "/bin/bash")
    with published("enter-tty"):
        pid, screen = pty.fork()
        if pid == 0:
            os.execv(TESTBED[0], [*TESTBED, "shell", "enter-tty", "h1"])
        shown = ""

        def shows(text: str) -> bool:
            """After what it has shown when it was asked last."""
            nonlocal shown
            if select.select([screen], [], [], 0)[0]:
                shown += os.read(screen, 4096).decode()
            before, found, after = shown.partition(text)
            shown = after if found else before
            return bool(found)

        until(lambda: shows("h1# "))
        # One process, so that Ctrl-C cannot come between the two.
        os.write(screen, b"sh -c \"echo be''gins; exec sleep 1000\"\n")
        until(lambda: shows("begins"))
        os.write(screen, b"\x03")
        until(lambda: shows("h1# "))
        os.write(screen, b"echo code $?\n")
        until(lambda: shows("code 130"))
        os.write(screen, b"exit 5\n")
        codes: list[int] = []

        def has_ended() -> bool:
            done, status = os.waitpid(pid, os.WNOHANG)
            codes.extend([os.waitstatus_to_exitcode(status)] if done else [])
            return bool(done)

        until(has_ended)
        assert codes == [5]
        os.close(screen)
