"""`testbed ...` in a process of its own, to its end: what it printed and its exit code.

The process is forked from one that has imported most of the package already, which is most of what a short command
does otherwise, see `tests.support.preloaded`. Whoever tests the start itself starts an interpreter.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired

from testbed.base import linux
from testbed.engines.kernel import features

TIMEOUT = 200.0  # s: patience with a busy machine, no promise
_server = multiprocessing.get_context("forkserver")
_server.set_forkserver_preload(["tests.support.preloaded"])


@cache
def start() -> None:
    """Start the process that is forked, and see that it forks; it ends with this one."""
    process = _server.Process(target=os.getpid)
    process.start()
    process.join(TIMEOUT)
    assert process.exitcode == 0


class Command:
    """`testbed ...` on its way: what `subprocess.Popen` has, as far as tests ask for it.

    With ``session`` it is in a process group of its own, as a shell's are; with ``netns`` in the network namespace of
    that process.
    """

    def __init__(
        self, *arguments: str, cwd: Path | None = None, user: int | None = None, session: bool = False,
        netns: int | None = None, **environment: str,
    ) -> None:  # fmt: skip
        self.args = ["testbed", *arguments]
        self._folder = tempfile.TemporaryDirectory()
        self._out, self._err = (Path(self._folder.name, name) for name in ("out", "err"))
        given = {"cwd": cwd or Path.cwd(), "user": user, "session": session, "netns": netns}
        given["environment"] = {**os.environ, **environment}
        self._process = _server.Process(target=_main, args=(arguments, self._out, self._err), kwargs=given)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        self.kill, self.terminate = self._process.kill, self._process.terminate

    def poll(self) -> int | None:
        """Its exit code, if it has ended; negative for the signal that ended it."""
        return self._process.exitcode

    @property
    def returncode(self) -> int:
        """Its exit code. It has ended."""
        code = self.poll()
        assert code is not None
        return code

    def wait(self, timeout: float = TIMEOUT) -> int:
        """Until it has ended: its exit code."""
        self._process.join(timeout)
        if self.poll() is None:
            self._process.kill()
            self._process.join()
            raise TimeoutExpired(self.args, timeout, *self._printed())
        return self.returncode

    def communicate(self, timeout: float = TIMEOUT) -> tuple[str, str]:
        """Until it has ended: what it printed, on stdout and on stderr."""
        self.wait(timeout)
        return self._printed()

    def read_until(self, text: str) -> str:
        """Until it says ``text`` on stderr: all that it has said there."""
        while True:
            ended = self.poll() is not None
            said = self._printed()[1]
            if text in said:
                return said
            assert not ended, f"it never said '{text}': {said}"
            time.sleep(0.005)

    def _printed(self) -> tuple[str, str]:
        out, err = (file.read_text() if file.exists() else "" for file in (self._out, self._err))
        return out, err


def command(
    *arguments: str, cwd: Path | None = None, user: int | None = None, timeout: float = TIMEOUT, **environment: str
) -> CompletedProcess[str]:
    """Run ``testbed`` with these arguments in this folder, as this user. Nobody must see a traceback."""
    started = Command(*arguments, cwd=cwd, user=user, **environment)
    done = CompletedProcess(started.args, started.wait(timeout), *started.communicate())
    assert "Traceback" not in done.stderr, done.stderr
    return done


def _main(
    arguments: Sequence[str], out: Path, err: Path, *, cwd: Path, user: int | None, session: bool, netns: int | None,
    environment: Mapping[str, str],
) -> None:  # fmt: skip
    """In the forked process, which is this program from here on."""
    for file, number in ((out, 1), (err, 2)):
        opened = os.open(file, os.O_WRONLY | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    if session:
        os.setsid()
    if netns is not None:
        linux.setns(os.open(f"/proc/{netns}/ns/net", os.O_RDONLY | os.O_CLOEXEC), linux.CLONE_NEWNET)
    if user is not None:
        features.ask.cache_clear()  # who asked was root
        os.setuid(user)
    sys.argv = ["testbed", *arguments]
    from testbed.cli.main import main

    raise SystemExit(main())
