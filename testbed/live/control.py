"""Takes edits of a run that goes on: from `testbed set`, over a socket, and from the live page.

The socket is in Linux's abstract namespace, so that nothing is left of it, however the run ends. Everybody on the
machine can connect: only root and the run's own user are heard.
"""

from __future__ import annotations

import json
import math
import os
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress

from testbed.errors import BadInput, TestbedError
from testbed.experiment.events import Value
from testbed.live.edit import Edit, Editable, Edited, answered
from testbed.live.observers import Observer
from testbed.live.reached import MOST_BYTES, SECONDS, address_of, user_of
from testbed.live.scene import Scene

CLOSING_SECONDS = READING_SECONDS = 1.0  # a client sends at once


class Control(Observer):
    """Of one run; of several, one after the other."""

    def __init__(self) -> None:
        self._next: Editable | None = None
        self._run: Editable | None = None  # once it has begun
        self._socket: socket.socket | None = None
        self._number = 0
        self._answer: Edited | None = None
        self._turn = threading.Lock()  # one edit at a time
        self._changed = threading.Condition()

    def on_editable(self, run: Editable) -> None:
        self._next = run

    def on_begin(self, scene: Scene) -> None:
        if self._next is None:
            return
        self._run = self._next
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(address_of(scene.run, os.getpid()))
        listening.listen()
        self._socket = listening
        self._thread = threading.Thread(target=self._serve, args=(listening,), daemon=True)
        self._thread.start()

    def on_edited(self, edited: Edited) -> None:
        with self._changed:
            self._answer = edited
            self._changed.notify_all()

    def on_stop(self) -> None:
        with self._changed:
            self._run = self._next = None
            self._changed.notify_all()
        if self._socket:
            self._socket.shutdown(socket.SHUT_RDWR)
            self._thread.join(CLOSING_SECONDS)  # for a client that reads nothing nobody waits longer
            self._socket.close()
            self._socket = None

    def edit(self, settings: Mapping[str, Value]) -> Edited:
        """Ask for it, and wait for the answer. Raises BadInput for what cannot be, ValueError for no settings."""
        if not isinstance(settings, dict) or not all(_is_value(one) for one in settings.values()):
            raise ValueError("no settings")
        with self._turn, self._changed:
            if self._run is None:
                raise BadInput("no run that could be edited goes on here")
            self._number += 1
            self._run.ask_to_edit(Edit(self._number, settings))
            self._changed.wait_for(lambda: self._run is None or self._answered(), SECONDS)
            answer = self._answer
            if answer is None or not self._answered():
                raise TestbedError("the run has ended" if self._run is None else "the run does not answer")
            if answer.problem:
                raise BadInput(answer.problem)
            return answer

    def _answered(self) -> bool:
        return self._answer is not None and self._answer.number == self._number

    def _serve(self, listening: socket.socket) -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:  # the run is over
                return
            with client, suppress(OSError):
                client.settimeout(READING_SECONDS)
                client.sendall(json.dumps(self._reply(client)).encode() + b"\n")

    def _reply(self, client: socket.socket) -> dict[str, object]:
        with client.makefile("rb") as lines:
            asked = lines.readline(MOST_BYTES)
        own = os.geteuid()
        if user_of(client) not in (0, own):
            return {"problem": "it is root's; use sudo" if own == 0 else "it is another user's"}
        return answered(self.edit, asked)


def _is_value(one: object) -> bool:
    """One that a file can hold: JSON knows nan."""
    return isinstance(one, str) or (isinstance(one, int | float) and math.isfinite(one))
