"""The part of the switches that sends pause frames: one process for all ports, which dies with the run.

The port and NIC programs say when an ingress crosses xoff or xon (pause.bpf.h). The frame goes out at that port past
its queue and shaper, as a MAC sends it between two packets. While a port stays above xon, its pause is renewed long
before it runs out. A port between switches to which a frame has come is shut and opened in time
(`testbed.engines.kernel.pfc.gate_controller`).
Nothing here waits busily; how long it took from a crossing to its frame is kept.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testbed.base import linux
from testbed.base.shared import Shared
from testbed.dataplane.ring import Ring
from testbed.dataplane.wire import ABOVE_XOFF, HEARD, PAUSE_EVENT
from testbed.engines.kernel.pfc.gate_controller import GateController
from testbed.engines.kernel.rack import pause_frames
from testbed.engines.kernel.rack.gate import PortGate
from testbed.errors import TestbedError

FIFO_PRIORITY = 2  # above the agents: a pause must not wait for those that it is to stop
EVENTS_SIZE = 1 << 16  # bytes of the ring, as in pause.bpf.h
PACKET_QDISC_BYPASS = 20
SOL_PACKET = 263
RENEWED_AFTER = 0.5  # of a pause: it must not run out because we are late
END_SECONDS = 1.0


@dataclass(frozen=True)
class PausingPort:
    """A port that can pause its far end."""

    ifindex: int
    name: str
    mac: str
    netns: int  # of its switch
    longest: float  # wall s that a pause lasts at most


class PauseGenerator:
    """Seen from outside. ``ingresses`` and ``pauses`` are the kernel's arrays, indexed by ifindex."""

    def __init__(
        self,
        events: int,
        ingresses: NDArray[np.void],
        pauses: NDArray[np.void],
        ports: Sequence[PausingPort],
        gates: Sequence[PortGate],
    ) -> None:
        """``events`` is the descriptor of the ring of crossings."""
        self._slowest, self._late = Shared.ints(1), Shared.ints(1)
        hear, self._go = os.pipe()
        self._said, say = os.pipe()
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._go)
            os.close(self._said)

            def build() -> _Loop:
                gate_controller = GateController(gates, pauses, self._late)
                return _Loop(events, ingresses, ports, gate_controller, self._slowest)

            _child(build, hear, say, parent)
        os.close(hear)
        os.close(say)

    @property
    def slowest(self) -> float:
        """Wall seconds of the slowest frame since the last `forget`, from its crossing until it was sent."""
        return int(self._slowest[0]) / 1e9

    @property
    def late(self) -> float:
        """Wall seconds by which a gate was shut too late at most, since the last `forget`."""
        return int(self._late[0]) / 1e9

    def forget(self) -> None:
        """From now on `slowest` and `late` are of other frames."""
        self._slowest[0] = self._late[0] = 0

    def failure(self) -> str:
        """Why it has ended; empty if it has not."""
        if not select.select([self._said], [], [], 0)[0]:
            return ""
        return os.read(self._said, 1 << 16).decode(errors="replace") or "it was killed"

    def end(self) -> None:
        """End it; call this when nothing is on its way any more. Raises TestbedError if it did not live until then."""
        if failure := self.failure():
            raise TestbedError(f"the process that sends pause frames ended before the run: {failure}")
        os.close(self._go)
        deadline = time.monotonic() + END_SECONDS
        while os.waitpid(self._pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.kill(self._pid, signal.SIGKILL)
            time.sleep(0.001)
        os.close(self._said)


def _child(build: Callable[[], _Loop], hear: int, say: int, parent: int) -> None:
    """The process; never returns."""
    try:
        linux.die_with_parent(parent)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        linux.sharpen_timers()
        linux.real_time(FIFO_PRIORITY)
        loop = build()
        threading.excepthook = lambda failed: _fail(say, failed.exc_value)
        loop.gate_controller.start()
        gc.freeze()
        gc.disable()
        loop.run(hear)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the run must not go on as if nothing had happened
        _fail(say, error)
    finally:
        os._exit(0)


def _fail(say: int, error: BaseException | None) -> None:
    os.write(say, "".join(traceback.format_exception(error)).encode())
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
        self.ports = {port.ifindex: port for port in ports}
        self.macs = {one.ifindex: bytes.fromhex(one.mac.replace(":", "")) for one in ports}
        self.sockets = {netns: _socket(netns) for netns in {port.netns for port in ports}}
        self.renew_at: dict[int, int] = {}  # CLOCK_MONOTONIC ns, by port

    def run(self, hear: int) -> None:
        """Until the other side closes the pipe."""
        while hear not in linux.wait_readable((hear, self.ring.fd), self._ns_left()):
            self._tell()
            self._renew()

    def _ns_left(self) -> int | None:
        return max(0, min(self.renew_at.values()) - time.monotonic_ns()) if self.renew_at else None

    def _tell(self) -> None:
        """Of every crossing, in order; those that come meanwhile as well."""
        while len(events := self.ring.waiting().copy()):
            self.ring.consume(len(events))
            for ns, port, what in events.tolist():
                if what == HEARD:
                    self.gate_controller.heard(port)
                    continue
                self._send(port, pause_frames.LONGEST if what == ABOVE_XOFF else 0, ns)
                self.slowest[0] = max(int(self.slowest[0]), time.monotonic_ns() - ns)

    def _renew(self) -> None:
        now = time.monotonic_ns()
        for port in [port for port, at in self.renew_at.items() if at <= now]:
            if self.paused[port]:
                self._send(port, pause_frames.LONGEST, time.monotonic_ns())
            else:
                del self.renew_at[port]  # the crossing of xon will be told next

    def _send(self, port: int, quanta: int, ns: int) -> None:
        pausing = self.ports[port]
        frame = pause_frames.frame(self.macs[port], quanta, ns)
        self.sockets[pausing.netns].sendto(frame, (pausing.name, pause_frames.ETHERTYPE))
        self.frames[port] += 1
        if quanta:
            self.renew_at[port] = ns + round(RENEWED_AFTER * pausing.longest * 1e9)
        else:
            self.renew_at.pop(port, None)


def _socket(netns: int) -> socket.socket:
    with linux.inside(netns):
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)  # receives nothing
    opened.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
    return opened
