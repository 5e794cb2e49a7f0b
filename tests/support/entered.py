"""A sandbox that says that it holds a rack, without one: it has a host's namespace, and its own for a switch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from testbed.base import linux
from testbed.engines.kernel.sandbox import Sandbox
from testbed.engines.nodes import RackNode, publish


@contextmanager
def published(run: str) -> Iterator[Sandbox]:
    """Until the end of the block, or until it is asked to stop."""

    def work(connection: Connection) -> None:
        nodes = [RackNode("h1", "10.0.0.1", linux.new_netns()), RackNode("s1", "", linux.current_netns())]
        publish(run, iter(nodes))
        connection.send(("published", None))
        connection.recv()

    sandbox = Sandbox(work)
    try:
        assert next(sandbox.messages()) == ("published", None)
        yield sandbox
    finally:
        sandbox.kill()
