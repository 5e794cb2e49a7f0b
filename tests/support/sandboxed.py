"""Work inside a sandbox, as runs do: a rack's switch lives in the namespace of the process."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from testbed.engines.kernel.sandbox import Sandbox


def inside(work: Callable[[], Any]) -> Any:
    """What ``work()`` returned inside. A failed assertion in there arrives as TestbedError with its traceback."""

    def run(connection: Connection) -> None:
        connection.send(("result", work()))

    sandbox = Sandbox(run)
    try:
        (found,) = [content for kind, content in sandbox.messages() if kind == "result"]
    finally:
        sandbox.kill()
    return found
