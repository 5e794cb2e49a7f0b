"""System calls that Python 3.11 does not wrap: namespaces, mounts, process control."""

from __future__ import annotations

import ctypes
import errno
import os
import select
import signal
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
MCL_CURRENT = 1
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 1 << 18
CLOCK_MONOTONIC_COARSE = 6  # time.h
PR_SET_PDEATHSIG = 1
PR_SET_TIMERSLACK = 29
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def unshare(flags: int) -> None:
    """Leave the namespaces named by ``flags`` for new ones."""
    _check(_libc.unshare(flags), "unshare")


def setns(fd: int, flags: int) -> None:
    """Enter the namespace behind ``fd`` (this thread only)."""
    _check(_libc.setns(fd, flags), "setns")


def mount(source: str, target: str, kind: str | None, flags: int = 0) -> None:
    """mount(2) without data."""
    kind_bytes = None if kind is None else kind.encode()
    _check(_libc.mount(source.encode(), target.encode(), kind_bytes, ctypes.c_ulong(flags), None), f"mount {target}")


def umount(target: str) -> None:
    """umount(2): what was mounted there last."""
    _check(_libc.umount2(target.encode(), 0), f"umount {target}")


class _Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class _Header(ctypes.Structure):
    """struct msghdr: with its padding, which is why it is a structure of its own."""

    _fields_ = [
        ("name", ctypes.c_void_p),
        ("name_size", ctypes.c_uint32),
        ("parts", ctypes.POINTER(_Iovec)),
        ("part_count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_size", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    ]


class _Message(ctypes.Structure):
    """struct mmsghdr."""

    _fields_ = [("header", _Header), ("sent", ctypes.c_uint32)]


def send_many(fd: int, packet: bytes, count: int) -> None:
    """The same packet ``count`` times, with few system calls: sendmmsg(2). What a full queue drops counts as sent."""
    part = _Iovec(ctypes.cast(ctypes.c_char_p(packet), ctypes.c_void_p), len(packet))
    header = _Header(parts=ctypes.pointer(part), part_count=1)
    messages = (_Message * count)(*(_Message(header=header) for _ in range(count)))
    done = 0
    while done < count:
        sent = _libc.sendmmsg(fd, ctypes.byref(messages, done * ctypes.sizeof(_Message)), count - done, 0)
        if sent < 0 and ctypes.get_errno() == errno.ENOBUFS:
            sent = 1
        _check(0 if sent > 0 else -1, "sendmmsg")
        done += sent


class _Poll(ctypes.Structure):
    """struct pollfd."""

    _fields_ = [("fd", ctypes.c_int), ("events", ctypes.c_short), ("returned", ctypes.c_short)]


class _Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("ns", ctypes.c_long)]


def wait_readable(fds: Sequence[int], ns: int | None) -> list[int]:
    """Those that can be read or whose other side has closed, after ``ns`` at the latest; select.poll knows ms only."""
    polled = (_Poll * len(fds))(*(_Poll(fd, select.POLLIN, 0) for fd in fds))
    time = None if ns is None else ctypes.byref(_Timespec(*divmod(max(0, ns), 10**9)))
    if _libc.ppoll(polled, len(fds), time, None) < 0 and ctypes.get_errno() != errno.EINTR:
        _check(-1, "ppoll")
    return [one.fd for one in polled if one.returned]


def die_with_parent(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel end this process when its parent is gone, whatever ended the parent."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, by, 0, 0, 0), "prctl")
    if os.getppid() != parent:  # it was gone before we asked
        os._exit(1)


class Lifeline:
    """To a parent outside the PID namespace that a fork begins, where it has no number and `getppid` tells nothing.

    To be made before the fork. When a process ends, the kernel closes its files before it signals its children.
    """

    def __init__(self) -> None:
        self._child, self._parent = os.pipe()

    def die_with_parent(self) -> None:
        """In the child: have the kernel end this process when its parent is gone."""
        os.close(self._parent)
        _check(_libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
        if wait_readable([self._child], 0):  # it was gone before we asked
            os._exit(1)
        os.close(self._child)


def tick() -> float:
    """Seconds between two ticks of the kernel's clock."""
    return time.clock_getres(CLOCK_MONOTONIC_COARSE)


def core_mask(cores: Collection[int]) -> str:
    """As the kernel reads it: groups of 32 cores in hexadecimal, the highest first."""
    whole = sum(1 << core for core in cores)
    groups = range(max(cores, default=0) // 32, -1, -1)
    return ",".join(f"{whole >> 32 * group & 0xFFFFFFFF:08x}" for group in groups)


def sharpen_timers() -> None:
    """Let sleeps end when they should: the default slack of 50 us is larger than a packet's slot."""
    _check(_libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0), "prctl")


def real_time(priority: int) -> None:
    """Run before every usual process. In a container's cgroup without real-time budget, nothing changes."""
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))


def keep_awake() -> None:
    """Idle cores do not sleep while this process lives, for it takes tens of microseconds to wake one (PM QoS)."""
    with suppress(OSError):  # it is root's, and of real machines
        os.write(os.open("/dev/cpu_dma_latency", os.O_WRONLY | os.O_CLOEXEC), bytes(4))


def own_core() -> tuple[set[int], set[int]]:
    """The last core that this process may use, for one that never waits, and the others; the only one is both."""
    *others, last = sorted(os.sched_getaffinity(0))
    return {last}, {*others} or {last}


def hold_memory() -> None:
    """Get all pages now that this process has asked for, and keep them; without the right to, nothing changes."""
    _libc.mlockall(MCL_CURRENT)


def keep_freed_memory() -> None:
    """What this process frees it uses again, where the C library is glibc: arrays then find pages that are there."""
    if hasattr(_libc, "mallopt"):
        for threshold in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):
            _libc.mallopt(threshold, 1 << 30)


def current_netns() -> int:
    """A file descriptor of the network namespace that this thread is in."""
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def new_netns() -> int:
    """A file descriptor of a new, unnamed network namespace: it lives as long as the descriptor."""
    home = current_netns()
    try:
        unshare(CLONE_NEWNET)
        return current_netns()
    finally:
        setns(home, CLONE_NEWNET)
        os.close(home)


@contextmanager
def inside(netns: int) -> Iterator[None]:
    """Do something in another network namespace; sockets opened there stay there."""
    home = current_netns()
    try:
        setns(netns, CLONE_NEWNET)
        yield
    finally:
        setns(home, CLONE_NEWNET)
        os.close(home)


def input_queue_drops() -> int:
    """Packets that the per-core input queues of this machine have dropped since it started."""
    lines = Path("/proc/net/softnet_stat").read_text().splitlines()
    return sum(int(line.split()[1], 16) for line in lines)
