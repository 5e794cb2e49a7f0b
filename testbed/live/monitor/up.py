"""`testbed monitor up`: starts what is installed, says where it is, and ends it with itself.

It stays in the foreground: no state can be stale, nothing has to be taken down, and nothing is left behind, however it
ends. What was recorded stays in the folder for the next time.
"""

from __future__ import annotations

import fcntl
import re
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from testbed.errors import BadInput, TestbedError
from testbed.live.monitor.configuration import write_prometheus
from testbed.live.monitor.process import POLL, Process, ended_by_signals, started
from testbed.live.monitor.services import Plan, Ports, plan

TARGET = re.compile(r"([\w.-]+|\[[0-9a-fA-F:]+\]):[0-9]+")


def up(folder: Path, ports: Ports, targets: Sequence[str]) -> None:
    """Start everything, print the addresses, and wait until a signal or the end of a service."""
    folder = folder.absolute()
    found = plan(folder, ports)
    if found.advice:
        print(f"not installed here; to get it:\n{found.advice}", file=sys.stderr)
    if not found.services:
        raise TestbedError("there is nothing to start: neither Prometheus nor Grafana is installed (see above)")
    _require_free(ports, found)
    with _lock(folder), ended_by_signals(), ExitStack() as stack:
        _write_configuration(folder, targets)
        processes: list[Process] = []
        for service in found.services:  # one after the other: containers of one project are best made so
            processes.append(stack.enter_context(started(service, folder)))
            processes[-1].wait_until_ready()
            print(f"{service.name + ':':12}{service.url}", flush=True)
        print(f"scraping {', '.join(targets)} every second; data in {folder}; Ctrl-C ends it", file=sys.stderr)
        while True:
            for process in processes:
                process.require_alive()
            time.sleep(POLL)


def target(text: str) -> str:
    """HOST:PORT, checked. Raises BadInput."""
    if not TARGET.fullmatch(text) or not 0 < int(text.rpartition(":")[2]) < 65536:
        raise BadInput(f"--target {text}: expected HOST:PORT, for example 192.0.2.7:9464")
    return text


def _require_free(ports: Ports, found: Plan) -> None:
    if ports.prometheus == ports.grafana:
        raise BadInput(f"port {ports.grafana} cannot be both --prometheus-port and --grafana-port")
    wanted = {"Prometheus": ports.prometheus, "Grafana": ports.grafana}
    for service in found.services:
        port, option = wanted[service.name], f"--{service.name.lower()}-port"
        try:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise BadInput(
                f"port {port} for {service.name} cannot be used: {error.strerror}; choose another with {option}, or "
                f"end what uses it (ss -ltnp 'sport = :{port}'; perhaps a service that the package started)"
            ) from None


def _lock(folder: Path) -> TextIO:
    """The folder belongs to one process at a time: the one that has this file open."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BadInput(f"{folder} is in use by another 'testbed monitor up'; choose another with --dir") from None
    except OSError as error:
        raise _unwritable(folder, error) from None
    return lock


def _write_configuration(folder: Path, targets: Sequence[str]) -> None:
    try:
        write_prometheus(folder, targets)
    except OSError as error:
        raise _unwritable(folder, error) from None


def _unwritable(folder: Path, error: OSError) -> BadInput:
    return BadInput(f"--dir {folder}: {error.strerror}: {error.filename}; choose a folder that you may write to")
