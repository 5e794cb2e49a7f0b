"""How commands of a host talk to its process 1: one JSON object each way over a socket."""

from __future__ import annotations

import json
import socket
from typing import Any

SOCKET = "/run/systemd/private"


def ask(order: dict[str, Any]) -> dict[str, Any]:
    """Waits for the answer, ``{}`` if process 1 ended instead."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(SOCKET)
        connection.sendall(json.dumps(order).encode() + b"\n")
        with connection.makefile() as lines:
            line = lines.readline()
    answer: dict[str, Any] = json.loads(line) if line else {}
    return answer
