"""Services as child processes: started, watched, and ended with this process, by whatever signal it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from testbed.base import linux
from testbed.errors import TestbedError
from testbed.live.monitor.services import Service

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOG_TAIL = 10  # lines of a log that an error shows
STOP_TIMEOUT = 15.0  # s that a service gets to write what it has
POLL = 0.2  # s


@dataclass(frozen=True)
class Process:
    """A service that was started."""

    service: Service
    child: subprocess.Popen[bytes]
    log: Path

    def wait_until_ready(self) -> None:
        """Until the service answers. Raises TestbedError if it ends instead, or takes too long."""
        from urllib.error import URLError
        from urllib.request import ProxyHandler, build_opener

        service = self.service
        opener = build_opener(ProxyHandler({}))  # loopback is never behind a proxy
        deadline = time.monotonic() + service.start_timeout
        while time.monotonic() < deadline:
            self.require_alive()
            try:
                with opener.open(service.url + service.health, timeout=2):
                    return
            except (URLError, OSError):
                time.sleep(POLL)
        raise TestbedError(f"{service.name} did not answer within {service.start_timeout:g} s{self._log_tail()}")

    def require_alive(self) -> None:
        """Raises TestbedError if the service has ended."""
        with _signals_blocked():
            ended = self.child.poll() is not None
        if ended:
            raise TestbedError(f"{self.service.name} ended (exit code {self.child.returncode}){self._log_tail()}")

    def _log_tail(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-LOG_TAIL:]
        return "\n".join([f"; the end of {self.log}:", *(f"  {line}" for line in lines)])


@contextmanager
def started(service: Service, folder: Path) -> Iterator[Process]:
    """A service that ends with this block, and also if this process is killed."""
    parent, log = os.getpid(), folder / f"{service.name.lower()}.log"
    try:
        with log.open("wb") as output:
            child = subprocess.Popen(
                service.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **service.environment},
                process_group=0,  # Ctrl-C is for us: at a second signal docker compose would kill its containers
                preexec_fn=lambda: linux.die_with_parent(parent, signal.SIGTERM),  # noqa: PLW1509 - one thread only
            )
    except OSError as error:
        raise TestbedError(f"{service.name} cannot be started: {error.strerror}: {error.filename}") from None
    try:
        yield Process(service, child, log)
    finally:
        child.terminate()
        try:
            child.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


class _Ended(BaseException):
    """A signal asked for the end: not an error."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Ctrl-C, SIGTERM and a closed terminal end the block quietly, once; later ones do not disturb the clean-up."""
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


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """A signal that ends a poll half-way leaves a lock behind, and wait() would wait for it forever."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
