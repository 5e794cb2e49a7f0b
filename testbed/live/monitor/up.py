"""`testbed monitor up`: starts what is installed, says where it is, and ends it with itself.

It stays in the foreground: then there is no state that could be stale, nothing to take down and nothing left behind,
however it ends. What was recorded stays in the folder for the next time.
"""

from __future__ import annotations

import fcntl
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TextIO

from testbed.base import linux
from testbed.errors import BadInput, TestbedError
from testbed.live.monitor import provisioning
from testbed.live.monitor.services import COMPOSE_FILE, Plan, Ports, Service, plan

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LAST_WORDS = 10  # lines of a log that are shown
PATIENCE_AT_END = 15.0  # s that a service gets to write what it has
POLL = 0.2  # s
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
    with _lock(folder), _ended_by_signals(), ExitStack() as started:
        _write_configuration(folder, ports, found, targets)
        running = []
        for service in found.services:  # one after the other: containers of one project are best made so
            running.append((service, started.enter_context(_process(service, folder))))
            _wait_until_ready(*running[-1], folder)
            print(f"{service.name + ':':12}{service.url}", flush=True)
        print(f"scraping {', '.join(targets)} every second; data in {folder}; Ctrl-C ends it", file=sys.stderr)
        _watch(running, folder)


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
                f"end what has it (ss -ltnp 'sport = :{port}'; a service that the package started, perhaps)"
            ) from None


def _lock(folder: Path) -> TextIO:
    """The folder belongs to one process at a time: to the one that has this file open."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BadInput(f"{folder} is in use by another 'testbed monitor up'; choose another with --dir") from None
    except OSError as error:
        raise _unwritable(folder, error) from None
    return lock


def _unwritable(folder: Path, error: OSError) -> BadInput:
    return BadInput(f"--dir {folder}: {error.strerror}: {error.filename}; choose a folder that you may write to")


def _write_configuration(folder: Path, ports: Ports, found: Plan, targets: Sequence[str]) -> None:
    in_container = any(service.contained for service in found.services if service.name == "Grafana")
    dashboards_at = provisioning.IN_CONTAINER if in_container else folder / "grafana" / "dashboards"
    content = provisioning.files(targets, ports.prometheus, dashboards_at)
    compose = {COMPOSE_FILE.name: COMPOSE_FILE.read_text()}
    try:
        provisioning.write(folder, {**content, **provisioning.dashboards(), **compose})
    except OSError as error:
        raise _unwritable(folder, error) from None


@contextmanager
def _process(service: Service, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A service that ends with this block, and by the kernel's hand if this process is killed."""
    parent = os.getpid()
    try:
        with _log(service, folder).open("wb") as log:
            child = subprocess.Popen(
                service.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **service.environment},
                process_group=0,  # Ctrl-C is for us: at a second signal docker compose would kill its containers
                preexec_fn=lambda: linux.die_with_parent(parent, signal.SIGTERM),  # noqa: PLW1509 - one thread only
            )
    except OSError as error:
        raise TestbedError(f"{service.name} cannot be started: {error.strerror}: {error.filename}") from None
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(PATIENCE_AT_END)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _wait_until_ready(service: Service, child: subprocess.Popen[bytes], folder: Path) -> None:
    from urllib.error import URLError
    from urllib.request import ProxyHandler, build_opener

    opener = build_opener(ProxyHandler({}))  # loopback is never behind a proxy
    deadline = time.monotonic() + service.patience
    while time.monotonic() < deadline:
        _require_alive(service, child, folder)
        try:
            with opener.open(service.url + service.health, timeout=2):
                return
        except (URLError, OSError):
            time.sleep(POLL)
    raise TestbedError(f"{service.name} did not answer within {service.patience:g} s{_last_words(service, folder)}")


def _watch(running: Sequence[tuple[Service, subprocess.Popen[bytes]]], folder: Path) -> None:
    while True:
        for service, child in running:
            _require_alive(service, child, folder)
        time.sleep(POLL)


def _require_alive(service: Service, child: subprocess.Popen[bytes], folder: Path) -> None:
    with _undisturbed():
        ended = child.poll() is not None
    if ended:
        raise TestbedError(f"{service.name} ended (exit code {child.returncode}){_last_words(service, folder)}")


def _log(service: Service, folder: Path) -> Path:
    return folder / f"{service.name.lower()}.log"


def _last_words(service: Service, folder: Path) -> str:
    log = _log(service, folder)
    lines = log.read_text(errors="replace").splitlines()[-LAST_WORDS:]
    return "\n".join([f"; the end of {log}:", *(f"  {line}" for line in lines)])


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait: one that ends a poll half-way leaves a lock behind, and wait() would wait for it forever."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Ended(BaseException):
    """A signal asked for the end: not an error."""


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Ctrl-C, SIGTERM and a closed terminal end the block quietly, once; later ones do not disturb the clearing up."""
    ending = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]  # nohup stays nohup

    def end(_number: int, _frame: FrameType | None) -> None:
        for number in ending:
            signal.signal(number, signal.SIG_IGN)
        raise _Ended

    before = {number: signal.signal(number, end) for number in ending}
    try:
        yield
    except _Ended:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
