"""One app at one host: its processes, what they print, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from testbed.base import linux
from testbed.base.strange import visible
from testbed.errors import TestbedError
from testbed.experiment.apps import Instance

PRIVATE_FOLDER = "/media"  # where an app finds its own folder: a file system in memory, which hides what is there
LAST_LINES = 5
TCP_LISTEN = "0A"  # of /proc/net/tcp
MOST_OUTPUT = 16 << 20  # bytes of each stream that are kept, the last ones


class AppProcess:
    """An app that has been started. ``become`` makes the process one of its host."""

    def __init__(self, one: Instance, become: Callable[[], None], environment: dict[str, str], now: float) -> None:
        self.one, self.begun, self.ended = one, now, float("nan")
        self.asked = False  # to end
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - until the end
        folder = one.app.folder or PRIVATE_FOLDER

        def enter() -> None:
            become()
            if not one.app.folder:
                linux.mount("tmpfs", folder, "tmpfs")
            os.chdir(folder)
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        try:
            self.process = subprocess.Popen(
                ["/bin/sh", "-e", "-c", one.app.run], stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._err,
                env=environment, start_new_session=True, preexec_fn=enter,  # noqa: PLW1509
            )  # fmt: skip
        except subprocess.SubprocessError:
            raise TestbedError(f"app '{one.name}' cannot be started in {one.host}") from None

    def poll(self, now: float) -> int | None:
        """Its exit code once it has ended, as a shell says it."""
        code = self.process.poll()
        if code is None:
            return None
        if self.ended != self.ended:  # not yet seen
            self.ended = now
        return code if code >= 0 else 128 - code

    @property
    def failed(self) -> str:
        """Why it should not have ended like that; empty if it may, or goes on."""
        code = self.process.returncode
        if code is None or self.asked:
            return ""
        wanted, found = self.one.app.exit or 0, code if code >= 0 else 128 - code
        if found == wanted:
            return ""
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return f"app '{self.one.name}' at {self.one.host} {how}{self.last_lines()}"

    def last_lines(self) -> str:
        """What it printed last, errors if there are any; to go behind a message."""
        lines = (self.stderr() or self.stdout()).decode(errors="replace").rstrip().splitlines()[-LAST_LINES:]
        return ": " + visible(" | ".join(lines)) if lines else ", and printed nothing"

    def wait_ready(self) -> None:
        """Raises TestbedError if it has ended, or is not ready in time."""
        app = self.one.app
        deadline = time.monotonic() + app.patience
        while app.ready and not self._is_ready():
            if self.poll(0.0) is not None:
                raise TestbedError(self.failed or f"app '{self.one.name}' ended before it was ready{self.last_lines()}")
            if time.monotonic() > deadline:
                port, text = app.ready.port, app.ready.prints
                what = f"does not listen at port {port}" if port else f"has not printed '{text}'"
                raise TestbedError(
                    f"app '{self.one.name}' {what} after {app.patience} s{self.last_lines()}; mend it or raise patience"
                )
            time.sleep(0.02)

    def _is_ready(self) -> bool:
        ready = self.one.app.ready
        assert ready is not None
        if ready.port is None:
            return (ready.prints or "").encode() in self.stdout() + self.stderr()
        with suppress(OSError):  # it has just ended
            for table in ("tcp", "tcp6"):
                for row in Path(f"/proc/{self.process.pid}/net/{table}").read_text().splitlines()[1:]:
                    _, local, _, state, *_ = row.split()
                    if state == TCP_LISTEN and int(local.rpartition(":")[2], 16) == ready.port:
                        return True
        return False

    def ask_to_end(self) -> None:
        """All its processes."""
        if self.process.poll() is None:
            self.asked = True
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """All that is left of it."""
        self._signal(signal.SIGKILL)
        self.process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def stdout(self) -> bytes:
        """What it has printed."""
        return _content(self._out.fileno())

    def stderr(self) -> bytes:
        """The same of its errors."""
        return _content(self._err.fileno())


def _content(file: int) -> bytes:
    size = os.fstat(file).st_size
    return os.pread(file, MOST_OUTPUT, max(0, size - MOST_OUTPUT))
