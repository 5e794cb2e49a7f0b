"""The agent's process on a host: does what the control channel says, and stops by itself when that has gone.

It stops, and takes its programs away, when the channel ends, when nothing has been heard for `Job.patience`, when
`Job.deadline` has passed, and on SIGTERM, SIGHUP and SIGINT. Senders end at the experiment's duration in any case.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
import traceback
from collections.abc import Mapping
from types import FrameType
from typing import Any

from testbed.engines.lab.channel import PROTOCOL, Arrays, Message, Unpacker, pack
from testbed.engines.lab.digest import identity
from testbed.engines.lab.job import Job
from testbed.engines.lab.samples import interval_of
from testbed.engines.lab.station import Station
from testbed.errors import BadInput, TestbedError

FIRST_PATIENCE = 60.0  # s until the job must be there
STATUS = 0.2  # s between two reports
CHUNK = 1 << 16


class Ended(Exception):
    """The agent must stop now."""


def serve(hear: int, say: int) -> int:
    """Serve one run over two descriptors. Returns the exit code: 0 if it ended as the other side wanted."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, _end)
    service = Service(hear, say)
    try:
        service.run()
    except (Ended, BrokenPipeError):
        return 1
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        service.leave()
    return 0


def _end(number: int, _frame: FrameType | None) -> None:
    raise Ended(signal.Signals(number).name)


class Service:
    """Hears messages, has the `Station` do what they say, and reports."""

    def __init__(self, hear: int, say: int) -> None:
        self.hear, self.say = hear, say
        self.station: Station | None = None
        self.patience = FIRST_PATIENCE
        self._heard = time.monotonic()
        self._unpacker = Unpacker()
        self._over = False
        self._running = False
        self._next_look = self._next_status = 0.0

    def tell(self, kind: str, data: Mapping[str, Any] | None = None, arrays: Arrays | None = None) -> None:
        """Send a message. Raises BrokenPipeError if nobody is there."""
        rest = memoryview(pack(kind, data, arrays))
        while rest:
            rest = rest[os.write(self.say, rest) :]

    def run(self) -> None:
        """Until the other side says `leave`. Raises Ended if it does not."""
        self.tell("hello", {"protocol": PROTOCOL, **identity()})
        while not self._over:
            ready, _, _ = select.select([self.hear], [], [], self._seconds())
            if ready:
                self._read()
            elif time.monotonic() - self._heard > self.patience:
                raise Ended("the control channel is silent")
            if self._running:
                self._look()

    def _seconds(self) -> float:
        """To wait for a message."""
        if not self._running:
            return self.patience
        return max(0.0, min(self._next_look, self._next_status) - time.monotonic())

    def _read(self) -> None:
        chunk = os.read(self.hear, CHUNK)
        if not chunk:
            raise Ended("the control channel has ended")
        self._heard = time.monotonic()
        for message in self._unpacker.feed(chunk):
            try:
                self._do(message)
            except TestbedError as error:
                self.tell("failed", {"why": str(error), "bad_input": isinstance(error, BadInput)})
            except (Ended, BrokenPipeError):
                raise
            except Exception:  # noqa: BLE001 - a bug of ours must reach the user as well
                self.tell("failed", {"why": traceback.format_exc(), "bad_input": False})

    def _do(self, message: Message) -> None:
        if message.kind == "examine":
            self._examine(message)
        elif message.kind == "leave":
            self._over = True
            self.tell("left", {"differs": self.leave()})
        elif message.kind != "alive" and self.station is not None:
            self._go_on(self.station, message)

    def _examine(self, message: Message) -> None:
        job = Job.model_validate(message.data)
        self.patience = job.patience
        signal.setitimer(signal.ITIMER_REAL, job.deadline)  # rings even if a write to the channel does not return
        self.station = Station(job, message.arrays)
        self.tell("fits", self.station.examine())

    def _go_on(self, station: Station, message: Message) -> None:
        match message.kind:
            case "attach":
                station.attach(message.data["addresses"])
                self.tell("attached")
            case "measure":
                self.tell("measured", {"base_rtt": station.base_rtts()})
            case "launch":
                decider = station.launch(message.arrays["base_rtt"], message.data["timeout"])
                self.tell("launched", {"decider": decider.as_dict() if decider else None})
            case "begin":
                station.begin()
                self.tell("begun", station.seen(), station.counted())  # what was counted before does not count
                self._running = True
                self._next_look = self._next_status = time.monotonic()
            case "stop":
                station.pool.end()
            case "gather":
                self._running = False
                station.look()
                self.tell("record", station.seen(), station.record())

    def _look(self) -> None:
        station, now = self.station, time.monotonic()
        assert station is not None
        if now >= self._next_look:
            self._next_look = now + interval_of(station.job.interval, station.job.duration)
            at = station.look()
            failure = station.failure()
            if failure or station.finished(at):
                self._running = False
                self.tell("status", station.seen(), station.counted())
                self.tell("ended", {"failure": failure})
                return
        if now >= self._next_status:
            self._next_status = now + STATUS
            self.tell("status", station.seen(), station.counted())

    def leave(self) -> list[str]:
        """Take everything away. Returns what is not as it was."""
        station, self.station, self._running = self.station, None, False
        if station is None:
            return []
        with contextlib.suppress(TestbedError):
            return station.leave()
        return ["the programs could not be detached"]
