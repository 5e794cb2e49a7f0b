"""The part of the switches that sends pause frames: one process for all ports, which ends with the run.

The port and NIC programs signal when an ingress crosses xoff or xon (pause.bpf.h); with classes, one of its priority
groups; or when the receive buffer of a slow host does (intake.bpf.h), whose NIC is a port here. The frame leaves that
port past its queue and shaper, as a MAC sends it between two packets. While a port stays above xon, its pause is
renewed long before it expires. The gate of a port that receives a frame follows in time
(`testbed.engines.kernel.pfc.gate_controller`). There is no busy waiting; the longest time from a crossing to its frame
is measured.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testbed.base import denied, linux
from testbed.base.shared import Shared
from testbed.clock import WallSeconds
from testbed.dataplane.ring import Ring
from testbed.dataplane.wire import PAUSE_EVENT, PAUSE_RECEIVED
from testbed.engines.kernel.pfc.gate_controller import GateController
from testbed.engines.kernel.pfc.watchdog import PauseWatchdog
from testbed.engines.kernel.rack import pause_frames
from testbed.engines.kernel.rack.gate import PortGate
from testbed.errors import TestbedError

FIFO_PRIORITY = 2  # above the agents: a pause must not wait for the senders that it stops
EVENTS_SIZE = 1 << 16  # bytes of the ring, as in pause.bpf.h
PACKET_QDISC_BYPASS = 20
SOL_PACKET = 263
RENEWED_AFTER = 0.5  # of a pause: it must not expire because we are late
END_SECONDS = 1.0


@dataclass(frozen=True)
class PausingPort:
    """A port that can pause its peer, or one priority of it."""

    row: int  # in the maps of the programs: its ifindex, or that of a priority group
    priority: int
    name: str
    mac: str
    netns: int  # of its switch
    longest: WallSeconds  #  the longest pause that one frame can ask for


class PauseGenerator:
    """The process, seen from outside. ``ingresses`` and ``pauses`` are the kernel's arrays, by row."""

    def __init__(
        self,
        events: int,
        ingresses: NDArray[np.void],
        pauses: NDArray[np.void],
        ports: Sequence[PausingPort],
        gates: Sequence[PortGate],
        *,
        watchdog: PauseWatchdog | None = None,
    ) -> None:
        """``events`` is the descriptor of the ring of crossings."""
        self._slowest, self._late = Shared.ints(1), Shared.ints(1)
        stop_reader, self._stop = os.pipe()
        self._error, error_writer = os.pipe()
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._stop)
            os.close(self._error)

            def build() -> _Loop:
                gate_controller = GateController(gates, pauses, self._late, watchdog)
                return _Loop(events, ingresses, ports, gate_controller, self._slowest)

            _child(build, stop_reader, error_writer, parent)
        os.close(stop_reader)
        os.close(error_writer)

    @property
    def slowest(self) -> float:
        """Wall seconds of the slowest frame since the last `reset`, from its crossing until it was sent."""
        return int(self._slowest[0]) / 1e9

    @property
    def late(self) -> float:
        """Wall seconds by which a gate was shut too late at most, since the last `reset`."""
        return int(self._late[0]) / 1e9

    def reset(self) -> None:
        """Start `slowest` and `late` anew."""
        self._slowest[0] = self._late[0] = 0

    def failure(self) -> str:
        """Why it has ended; empty if it has not."""
        if not select.select([self._error], [], [], 0)[0]:
            return ""
        return os.read(self._error, 1 << 16).decode(errors="replace") or "it was killed"

    def let_go(self) -> None:
        """Pause nobody any more: what waits for each other shall drain."""
        os.write(self._stop, b"1")

    def end(self) -> None:
        """End it, once no packets are in flight. Raises TestbedError if it has ended before."""
        if failure := self.failure():
            raise TestbedError(f"the process that sends pause frames ended before the run: {failure}")
        os.close(self._stop)
        deadline = time.monotonic() + END_SECONDS
        while os.waitpid(self._pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.kill(self._pid, signal.SIGKILL)
            time.sleep(0.001)
        os.close(self._error)


def _child(build: Callable[[], _Loop], stop: int, error_pipe: int, parent: int) -> None:
    """The process; never returns."""
    try:
        linux.die_with_parent(parent)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        linux.sharpen_timers()
        linux.real_time(FIFO_PRIORITY)
        loop = build()
        threading.excepthook = lambda failed: _fail(error_pipe, failed.exc_value or SystemExit())
        loop.gate_controller.start()
        gc.freeze()
        gc.disable()
        loop.run(stop)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the run must not go on as if nothing had happened
        _fail(error_pipe, error)
    finally:
        os._exit(0)


def _fail(error_pipe: int, error: BaseException) -> None:
    os.write(error_pipe, denied.told(error).encode())
    os._exit(1)


class _Loop:
    def __init__(
        self,
        events: int,
        ingresses: NDArray[np.void],
        ports: Sequence[PausingPort],
        gate_controller: GateController,
        slowest: NDArray[np.int64],
    ) -> None:
        self.ring = Ring(events, EVENTS_SIZE, PAUSE_EVENT)
        self.paused, self.frames = ingresses["paused"], ingresses["frames"]
        self.slowest, self.gate_controller = slowest, gate_controller
        self.ports = {port.row: port for port in ports}
        self.macs = {one.row: bytes.fromhex(one.mac.replace(":", "")) for one in ports}
        self.sockets = {netns: _socket(netns) for netns in {port.netns for port in ports}}
        self.pausing = True
        self.renew_at: dict[int, int] = {}  # CLOCK_MONOTONIC ns, by row

    def run(self, stop: int) -> None:
        """Until the other side closes the pipe; from what it writes on nobody is paused any more."""
        while True:
            if stop in linux.wait_readable((stop, self.ring.fd), self._ns_left()):
                if not os.read(stop, 1):
                    return
                self._let_go()
            self._send_frames()
            self._renew()

    def _let_go(self) -> None:
        self.pausing = False
        for row in [*self.renew_at]:
            self._send(row, 0, time.monotonic_ns())

    def _ns_left(self) -> int | None:
        return max(0, min(self.renew_at.values()) - time.monotonic_ns()) if self.renew_at else None

    def _send_frames(self) -> None:
        """One for every crossing, in order, including those that are signalled meanwhile."""
        while len(events := self.ring.waiting().copy()):
            self.ring.consume(len(events))
            for ns, row, what, quanta in events.tolist():
                if what == PAUSE_RECEIVED:
                    self.gate_controller.pause_received(row)
                    continue
                if self.pausing or not quanta:
                    self._send(row, quanta, ns)
                self.slowest[0] = max(int(self.slowest[0]), time.monotonic_ns() - ns)

    def _renew(self) -> None:
        now = time.monotonic_ns()
        for row in [row for row, at in self.renew_at.items() if at <= now]:
            if self.paused[row]:
                self._send(row, pause_frames.LONGEST, time.monotonic_ns())
            else:
                del self.renew_at[row]  # the crossing of xon is signalled next

    def _send(self, row: int, quanta: int, ns: int) -> None:
        pausing = self.ports[row]
        frame = pause_frames.frame(self.macs[row], pausing.priority, quanta, ns)
        self.sockets[pausing.netns].sendto(frame, (pausing.name, pause_frames.ETHERTYPE))
        self.frames[row] += 1
        if quanta:
            self.renew_at[row] = ns + round(RENEWED_AFTER * pausing.longest * 1e9)
        else:
            self.renew_at.pop(row, None)


def _socket(netns: int) -> socket.socket:
    with linux.inside(netns):
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)  # receives nothing
    opened.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
    return opened
