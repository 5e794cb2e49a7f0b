"""The agent's process on a host: carries out the messages of the control channel, and stops by itself without it.

It stops, and detaches its programs, when the channel ends, when no message came for `HostConfig.patience`, when
`HostConfig.deadline` has passed, and on SIGTERM, SIGHUP and SIGINT. Senders end at the experiment's duration anyway.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Mapping
from types import FrameType
from typing import Any

from testbed.base import denied
from testbed.engines.lab.host.session import HostSession
from testbed.engines.lab.protocol.channel import PROTOCOL, Arrays, Message, Unpacker, pack
from testbed.engines.lab.protocol.code_digest import identity
from testbed.engines.lab.protocol.host_config import HostConfig
from testbed.errors import BadInput, TestbedError

FIRST_PATIENCE = 60.0  # s until the host's configuration must be there
STATUS = 0.2  # s between two reports
CHUNK = 1 << 16
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGALRM)


class Ended(Exception):
    """The agent must stop now."""


def serve(input_fd: int, output_fd: int) -> int:
    """Serve one run over two descriptors. Returns the exit code: 0 if the operator's side ended it."""
    for number in SIGNALS:
        signal.signal(number, _end)
    service = AgentService(input_fd, output_fd)
    try:
        service.run()
    except (Ended, BrokenPipeError):
        return 1
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        service.detach()
    return 0


def _end(number: int, _frame: FrameType | None) -> None:
    raise Ended(signal.Signals(number).name)


class AgentService:
    """Receives messages, has the `HostSession` carry them out, and reports."""

    def __init__(self, input_fd: int, output_fd: int) -> None:
        self.input_fd, self.output_fd = input_fd, output_fd
        self.session: HostSession | None = None
        self.patience = FIRST_PATIENCE
        self._last_message = time.monotonic()
        self._unpacker = Unpacker()
        self._over = False
        self._running = False
        self._next_sample = self._next_status = 0.0

    def send(self, kind: str, data: Mapping[str, Any] | None = None, arrays: Arrays | None = None) -> None:
        """Send a message. Raises BrokenPipeError if the channel has ended."""
        rest = memoryview(pack(kind, data, arrays))
        while rest:
            rest = rest[os.write(self.output_fd, rest) :]

    def run(self) -> None:
        """Until `detach` is received. Raises Ended if the channel is lost before."""
        self.send("hello", {"protocol": PROTOCOL, **identity()})
        while not self._over:
            ready, _, _ = select.select([self.input_fd], [], [], self._seconds())
            if ready:
                self._receive()
            elif time.monotonic() - self._last_message > self.patience:
                raise Ended("the control channel is silent")
            if self._running:
                self._observe()

    def _seconds(self) -> float:
        """To wait for a message."""
        if not self._running:
            return self.patience
        return max(0.0, min(self._next_sample, self._next_status) - time.monotonic())

    def _receive(self) -> None:
        chunk = os.read(self.input_fd, CHUNK)
        if not chunk:
            raise Ended("the control channel has ended")
        self._last_message = time.monotonic()
        for message in self._unpacker.feed(chunk):
            try:
                self._carry_out(message)
            except TestbedError as error:
                self.send("failed", {"why": str(error), "bad_input": isinstance(error, BadInput)})
            except (Ended, BrokenPipeError):
                raise
            except Exception as error:  # noqa: BLE001 - a bug of ours must reach the user as well
                self.send("failed", {"why": denied.told(error), "bad_input": False})

    def _carry_out(self, message: Message) -> None:
        if message.kind == "inspect":
            self._inspect(message)
        elif message.kind == "detach":
            self._over = True
            self.send("detached", {"differences": self.detach()})
        elif message.kind != "keepalive" and self.session is not None:
            self._step(self.session, message)

    def _inspect(self, message: Message) -> None:
        config = HostConfig.model_validate(message.data)
        self.patience = config.patience
        signal.setitimer(signal.ITIMER_REAL, config.deadline)  # rings even if a write to the channel does not return
        self.session = HostSession(config, message.arrays)
        self.send("inspected", self.session.inspect())

    def _step(self, session: HostSession, message: Message) -> None:
        match message.kind:
            case "attach":
                session.attach(message.data["addresses"])
                self.send("attached")
            case "measure":
                self.send("measured", {"base_rtt": session.base_rtts()})
            case "launch":
                loaded = session.launch(message.arrays["base_rtt"], message.data["timeout"])
                self.send("launched", {"loaded_plugin": loaded.as_dict() if loaded else None})
            case "start":
                session.start()
                self.send("started", session.status(), session.counters())  # what was counted before does not count
                self._running = True
                self._next_sample = self._next_status = time.monotonic()
            case "stop":
                session.pool.end()
            case "collect":
                self._running = False
                session.sample()
                self.send("record", session.status(), session.record())

    def _observe(self) -> None:
        session, now = self.session, time.monotonic()
        assert session is not None
        if now >= self._next_sample:
            self._next_sample = now + session.config.interval
            at = session.sample()
            failure = session.failure()
            if failure or session.finished(at):
                self._running = False
                self.send("status", session.status(), session.counters())
                self.send("ended", {"failure": failure})
                return
        if now >= self._next_status:
            self._next_status = now + STATUS
            self.send("status", session.status(), session.counters())

    def detach(self) -> list[str]:
        """Take everything of the run away. Returns what is not as it was."""
        session, self.session, self._running = self.session, None, False
        if session is None:
            return []
        with contextlib.suppress(TestbedError):
            return session.detach()
        return ["the programs could not be detached"]
