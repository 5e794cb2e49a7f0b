"""``python -m testbed.cli.sweep_child PARENT FD``: what the cells of a sweep are forked from.

A cell is the command line in a process of its own. It ends with this one, as this one does with the sweep: see
`testbed.runs.sweep.forks`.
"""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection, wait

from testbed.base.linux import die_with_parent
from testbed.cli.main import main

WHAT_RUNS_IMPORT = (
    "pyarrow.compute", "pyarrow.parquet", "testbed.cli.run", "testbed.engines.fluid.engine",
    "testbed.engines.virtual.engine", "testbed.results.report.build", "testbed.results.report.table",
    "testbed.runs.plan",
)  # fmt: skip


def serve(sweep: Connection) -> None:
    """Start the cells that are asked for, pass signals on to them, and say how each ended."""
    running: dict[int, tuple[str, int]] = {}  # name and process, by what tells of its end
    while True:
        for ready in wait([sweep, *running]):
            if isinstance(ready, int):
                os.close(ready)
                name, process = running.pop(ready)
                status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                with suppress(BrokenPipeError):  # the sweep ends meanwhile
                    sweep.send((name, status))
                continue
            try:
                asked = sweep.recv()
            except EOFError:
                for _, process in running.values():
                    os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)
                return
            if isinstance(asked, signal.Signals):
                for _, process in running.values():
                    os.kill(process, asked)
            else:
                name, *cell = asked
                process = _begin(sweep, *cell)
                running[os.pidfd_open(process)] = name, process


def _begin(sweep: Connection, arguments: Sequence[str], log: str, directory: str) -> int:
    """In a fork, which does not come back."""
    here = os.getpid()
    if process := os.fork():
        return process
    os.setsid()
    die_with_parent(here)
    sweep.close()
    os.dup2(os.open(log, os.O_WRONLY), sys.stderr.fileno())
    try:
        os.chdir(directory)
    except OSError as error:
        sys.exit(f"testbed: the cell could not be started: {error}")
    sys.argv = ["testbed", *arguments]  # what the run's manifest will say
    sys.exit(main())


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in a command, before something imports numpy
    for module in WHAT_RUNS_IMPORT:
        import_module(module)
    gc.freeze()  # forks need not look through it, which would copy it
    serve(Connection(int(sys.argv[2])))
