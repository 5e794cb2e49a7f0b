"""The part of the switches that sends pause frames: one process for all ports, which dies with the run.

The port and NIC programs say when an ingress crosses xoff or xon (pause.bpf.h). The frame goes out at that port past
its queue and shaper, as a MAC sends it between two packets. While a port stays above xon, its pause is renewed long
before it runs out. Nothing here waits busily; how long it took from a crossing to its frame is kept.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testbed import linux
from testbed.agent.shared import Shared
from testbed.dataplane.ring import Ring
from testbed.dataplane.wire import PAUSE_EVENT
from testbed.errors import TestbedError
from testbed.pfc import frames

FIFO_PRIORITY = 2  # above the agents: a pause must not wait for those that it is to stop
EVENTS_SIZE = 1 << 16  # bytes of the ring, as in pause.bpf.h
PACKET_QDISC_BYPASS = 20
SOL_PACKET = 263
RENEWED_AFTER = 0.5  # of a pause: it must not run out because we are late
END_SECONDS = 1.0


@dataclass(frozen=True)
class Speaker:
    """A port that can pause its far end."""

    ifindex: int
    name: str
    mac: str
    netns: int  # of its switch
    longest: float  # wall s that a pause lasts at most


class Engine:
    """Seen from outside. ``ingresses`` is the kernel's array, indexed by ifindex."""

    def __init__(self, events: int, ingresses: NDArray[np.void], speakers: Sequence[Speaker]) -> None:
        """``events`` is the descriptor of the ring of crossings."""
        self._slowest = Shared.ints(1)
        hear, self._go = os.pipe()
        self._said, say = os.pipe()
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._go)
            os.close(self._said)
            _child(_Loop(events, ingresses, speakers, self._slowest), hear, say, parent)
        os.close(hear)
        os.close(say)

    @property
    def slowest(self) -> float:
        """Wall seconds of the slowest frame since the last `forget`, from its crossing until it was sent."""
        return int(self._slowest[0]) / 1e9

    def forget(self) -> None:
        """From now on `slowest` is of other frames."""
        self._slowest[0] = 0

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


def _child(loop: _Loop, hear: int, say: int, parent: int) -> None:
    """The process; never returns."""
    try:
        linux.die_with_parent(parent)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        linux.sharpen_timers()
        linux.real_time(FIFO_PRIORITY)
        gc.freeze()
        gc.disable()
        loop.run(hear)
    except BaseException:  # noqa: BLE001 - whatever it is, the run must not go on as if nothing had happened
        os.write(say, traceback.format_exc().encode())
    finally:
        os._exit(0)


class _Loop:
    def __init__(
        self, events: int, ingresses: NDArray[np.void], speakers: Sequence[Speaker], slowest: NDArray[np.int64]
    ) -> None:
        self.ring = Ring(events, EVENTS_SIZE, PAUSE_EVENT)
        self.paused, self.frames = ingresses["paused"], ingresses["frames"]
        self.slowest = slowest
        self.speakers = {speaker.ifindex: speaker for speaker in speakers}
        self.macs = {one.ifindex: bytes.fromhex(one.mac.replace(":", "")) for one in speakers}
        self.sockets = {netns: _socket(netns) for netns in {speaker.netns for speaker in speakers}}
        self.renew_at: dict[int, float] = {}  # CLOCK_MONOTONIC s, by port

    def run(self, hear: int) -> None:
        """Until the other side closes the pipe."""
        poll = select.poll()
        poll.register(hear, select.POLLIN | select.POLLHUP)
        poll.register(self.ring.fd, select.POLLIN)
        while True:
            ready = poll.poll(self._milliseconds_left())
            self._tell()
            self._renew()
            if any(fd == hear for fd, _ in ready):
                return

    def _milliseconds_left(self) -> float | None:
        if not self.renew_at:
            return None
        return max(0.0, min(self.renew_at.values()) - time.monotonic()) * 1e3

    def _tell(self) -> None:
        """Of every crossing, in order."""
        crossings = self.ring.waiting().copy()
        for ns, port, pause in crossings.tolist():
            self._send(port, frames.LONGEST if pause else 0, ns)
            self.slowest[0] = max(int(self.slowest[0]), time.monotonic_ns() - ns)
        self.ring.consume(len(crossings))

    def _renew(self) -> None:
        now = time.monotonic()
        for port in [port for port, at in self.renew_at.items() if at <= now]:
            if self.paused[port]:
                self._send(port, frames.LONGEST, time.monotonic_ns())
            else:
                del self.renew_at[port]  # the crossing of xon will be told next

    def _send(self, port: int, quanta: int, ns: int) -> None:
        speaker = self.speakers[port]
        frame = frames.frame(self.macs[port], quanta, ns)
        self.sockets[speaker.netns].sendto(frame, (speaker.name, frames.ETHERTYPE))
        self.frames[port] += 1
        if quanta:
            self.renew_at[port] = ns / 1e9 + RENEWED_AFTER * speaker.longest
        else:
            self.renew_at.pop(port, None)


def _socket(netns: int) -> socket.socket:
    with linux.inside(netns):
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)  # receives nothing
    opened.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
    return opened
