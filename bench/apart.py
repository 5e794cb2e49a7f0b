"""Work in a process of its own, as a run is done: what it costs there is nobody else's."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TypeVar

from testbed.engines.process import RunProcess
from testbed.engines.virtual.process import WatchedProcess

PATIENCE = 3600.0  # s
Found = TypeVar("Found")


def apart(
    work: Callable[[Connection], Found], process: Callable[[Callable[[Connection], None]], RunProcess] | None = None
) -> Found:
    """What ``work`` returns; it is given a connection for its engine. Raises what a run would raise."""

    def report(connection: Connection) -> None:
        connection.send(("result", work(connection)))

    going = process(report) if process else WatchedProcess(report, PATIENCE, lambda: "the run said nothing")
    try:
        (found,) = (content for kind, content in going.messages() if kind == "result")
    finally:
        going.kill()
    return found  # type: ignore[no-any-return]
