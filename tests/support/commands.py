"""`testbed ...` in a process of its own, to its end: what it printed and its exit code.

The process is forked from one that has imported most of the package already, which is most of what a short command
does otherwise. Whoever tests the start itself, or signals, starts an interpreter: see `tests.support.outside`.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired

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


def command(
    *arguments: str, cwd: Path | None = None, user: int | None = None, timeout: float = TIMEOUT
) -> CompletedProcess[str]:
    """Run ``testbed`` with these arguments in this folder, as this user. Nobody must see a traceback."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        given = {"cwd": cwd or Path.cwd(), "user": user, "environment": dict(os.environ)}
        process = _server.Process(target=_main, args=(arguments, out, err), kwargs=given)
        process.start()
        process.join(timeout)
        if late := process.exitcode is None:
            process.kill()
            process.join()
        done = CompletedProcess(["testbed", *arguments], process.exitcode or 0, out.read_text(), err.read_text())
        process.close()
    if late:
        raise TimeoutExpired(done.args, timeout, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def _main(
    arguments: Sequence[str], out: Path, err: Path, *, cwd: Path, user: int | None, environment: Mapping[str, str]
) -> None:
    """In the forked process, which is this program from here on."""
    for file, number in ((out, 1), (err, 2)):
        opened = os.open(file, os.O_WRONLY | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    if user is not None:
        os.setuid(user)
    sys.argv = ["testbed", *arguments]
    from testbed.cli.main import main

    raise SystemExit(main())
