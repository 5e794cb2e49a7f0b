"""Work in forks of this process, some at a time: what each found, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe
from typing import TypeVar, cast

from testbed.base import denied
from testbed.errors import TestbedError

Found = TypeVar("Found")


def each(works: Iterable[Callable[[], Found]], jobs: int) -> Iterator[Found]:
    """What every work returns, as soon as those before it are known; each is taken when it can begin.

    One job is this process itself. So is the first work in any case: forks then have what it loads, and none imports
    for itself what may have changed on disk. Raises the TestbedError that a work raised, or one if its process died.
    """
    left = iter(works)
    yield from (work() for work in (left if jobs == 1 else islice(left, 1)))
    running: list[Connection] = []
    for work in left:
        running.append(_begin(work))
        if len(running) == jobs:
            yield cast(Found, _result(running.pop(0)))
    while running:
        yield cast(Found, _result(running.pop(0)))


def _begin(work: Callable[[], object]) -> Connection:
    """In a fork of this process, which sends what it found."""
    ours, theirs = Pipe(duplex=False)
    get_context("fork").Process(target=_send, args=(work, theirs)).start()
    theirs.close()
    return ours


def _send(work: Callable[[], object], connection: Connection) -> None:
    try:
        connection.send(work())
    except Exception as error:
        if not (known := denied.known(error)):
            raise
        connection.send(known)


def _result(connection: Connection) -> object:
    try:
        found: object = connection.recv()
    except EOFError:
        raise TestbedError("the process of a run died") from None
    if isinstance(found, TestbedError):
        raise found
    return found
