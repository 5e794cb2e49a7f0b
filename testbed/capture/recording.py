"""Captures packets while a run goes on: one process of normal priority for all points, which dies with the run."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from testbed.base import denied, linux
from testbed.capture.files import Capture
from testbed.capture.output import About, report
from testbed.capture.tap import Interface, Tap
from testbed.clock import Clock


class Recording:
    """Begins to capture when it is made: the kernel buffers packets until `begin` gives the time."""

    def __init__(self, captures: Sequence[tuple[Capture, Interface]], about: About) -> None:
        self._taps = [Tap(*one, about, len(captures)) for one in captures]
        if not self._taps:
            return
        self._reports, reports = os.pipe()
        start, self._start = os.pipe()
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._reports)
            os.close(self._start)
            _child(self._taps, reports, start, parent)
        os.close(reports)
        os.close(start)
        for tap in self._taps:
            tap.ring.close()

    def begin(self, clock: Clock) -> None:
        """Nominal time has begun."""
        if self._taps:
            with suppress(BrokenPipeError):  # it was killed: `end` says so
                os.write(self._start, json.dumps([clock.dilation, clock.epoch_ns]).encode())

    def end(self) -> list[dict[str, Any]]:
        """Per point: its name, packets that passed, how many of them were dropped, and the problem if it failed.

        Call it when no packet is in flight.
        """
        if not self._taps:
            return []
        os.close(self._start)
        with os.fdopen(self._reports, "rb") as said:
            text = said.read()
        os.waitpid(self._pid, 0)
        if not text:
            return [
                report(tap.capture, problem="its process was killed, what it had written is kept") for tap in self._taps
            ]
        found: list[dict[str, Any]] = json.loads(text)
        return found


def _child(taps: list[Tap], reports: int, start: int, parent: int) -> None:
    """The capturing process; never returns."""
    try:
        linux.die_with_parent(parent)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        gc.freeze()
        epoch = os.read(start, 256)
        if epoch:
            os.write(reports, json.dumps(_record(taps, Clock(*json.loads(epoch)), start)).encode())
    except BaseException as error:  # noqa: BLE001 - whatever it is, the user must see it
        problem = denied.told(error)
        os.write(reports, json.dumps([report(tap.capture, problem=problem) for tap in taps]).encode())
    finally:
        os._exit(0)


def _record(taps: list[Tap], clock: Clock, start: int) -> list[dict[str, Any]]:
    poll = select.poll()
    poll.register(start, select.POLLIN)
    for tap in taps:
        tap.begin(clock)
        poll.register(tap.ring, select.POLLIN)
    while not any(fd == start for fd, _ in poll.poll()):
        for tap in taps:
            tap.drain()
    return [tap.finish() for tap in taps]
