"""The control channel to one host: a process (mostly ssh) whose pipes carry messages. `HostSession` is its far end."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import threading
from collections.abc import Iterator, Mapping
from typing import IO, Any, NamedTuple

from testbed.engines.lab.operator.inventory import LabHost
from testbed.engines.lab.protocol.channel import Arrays, Message, Unpacker, pack
from testbed.errors import TestbedError

CHUNK = 1 << 16
KEPT = 2000  # characters of stderr
CLOSE_SECONDS = 5.0
DISCONNECTED = "disconnected"  # the kind of a connection's last message, which its reader makes


class Received(NamedTuple):
    """A message, and whose."""

    connection: HostConnection
    message: Message


Inbox = queue.SimpleQueue[Received]


class HostConnection:
    """One host. Its messages go to ``inbox``; the last one is `DISCONNECTED`."""

    def __init__(self, name: str, host: LabHost, inbox: Inbox) -> None:
        self.name, self.host, self.inbox = name, host, inbox
        self.disconnected = False
        self._stderr = ""
        try:
            # A session of its own: Ctrl-C is for us to handle, not for ssh.
            self.process = subprocess.Popen(
                host.command("agent"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise TestbedError(f"{self}: {host.command()[0]} cannot be started: {error.strerror}") from None
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_stderr)]
        for one in self._readers:
            one.start()

    def __str__(self) -> str:
        return f"{self.host.name} ({self.name})"

    def _read(self) -> None:
        assert self.process.stdout is not None
        unpacker, why = Unpacker(), ""
        try:
            for chunk in _chunks(self.process.stdout):
                for message in unpacker.feed(chunk):
                    self.inbox.put(Received(self, message))
        except TestbedError as error:
            why = str(error)
        self.inbox.put(Received(self, Message(DISCONNECTED, {"why": why}, {})))

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        for chunk in _chunks(self.process.stderr):
            self._stderr = (self._stderr + chunk.decode(errors="replace"))[-KEPT:]

    def send(self, kind: str, data: Mapping[str, Any] | None = None, arrays: Arrays | None = None) -> None:
        """Send a message, if the host is still connected."""
        assert self.process.stdin is not None
        if not self.disconnected:
            with contextlib.suppress(OSError):  # the reader notices it
                self.process.stdin.write(pack(kind, data, arrays))
                self.process.stdin.flush()

    def why_disconnected(self) -> str:
        """What ssh or the agent printed, or else the exit code."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)
        self._readers[1].join(1.0)
        printed = " ".join(self._stderr.split())
        return printed or f"its process ended with {self.process.poll()}"

    def close(self) -> None:
        """End it; the agent detaches its programs by itself when the channel ends."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait()
        for reader in self._readers:
            reader.join(1.0)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


def _chunks(pipe: IO[bytes]) -> Iterator[bytes]:
    while chunk := os.read(pipe.fileno(), CHUNK):
        yield chunk
