"""`testbed monitor up` as a user starts it, and questions to the Prometheus that it brings up."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

TESTBED = [sys.executable, "-m", "testbed"]
PATIENCE = 200.0  # s


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(number)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def monitor_up(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    command = [*TESTBED, "monitor", "up", *(str(one) for one in arguments)]
    env = {**os.environ, **(environment or {})}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


@contextmanager
def running(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def announced(process: subprocess.Popen[str], services: int) -> list[str]:
    """The lines that say where the services are, once they are there."""
    assert process.stdout is not None
    return [process.stdout.readline().rstrip("\n") for _ in range(services)]


def end(process: subprocess.Popen[str], by: signal.Signals) -> tuple[int, str, str]:
    """Exit code and what else was printed, after a signal."""
    process.send_signal(by)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=2):
            return True
    except (URLError, OSError):
        return False


def wait_for(url: str, *, there: bool = True) -> None:
    deadline = time.monotonic() + PATIENCE
    while answers(url) is not there:
        assert time.monotonic() < deadline, f"{url} is {'not there' if there else 'still there'}"
        time.sleep(0.1)


class Prometheus:
    """A running one."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def api(self, path: str, **parameters: str | float) -> Any:
        with urlopen(f"{self.url}/api/v1/{path}?{urlencode(parameters)}", timeout=PATIENCE) as answer:
            return json.load(answer)["data"]

    def query(self, expression: str, at: float) -> list[dict[str, Any]]:
        """Labels and value of every series of an instant query."""
        series: list[dict[str, Any]] = self.api("query", query=expression, time=at)["result"]
        return series
