"""System calls that Python does not have, against the kernel."""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import signal
import socket
import time

import pytest

from testbed.base import linux


def test_many_packets_go_out_with_few_calls_and_nothing_else_is_touched() -> None:
    """The kernel notes in each message what it sent: with another layout than its own, in someone else's memory."""
    sender, receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with sender, receiver:
        receiver.settimeout(5)
        for count in (1, 2, 7):
            linux.send_many(sender.fileno(), b"x" * 100, count)
            assert [len(receiver.recv(200)) for _ in range(count)] == [100] * count
    assert ctypes.sizeof(linux._Message) == 64  # sys/socket.h on 64 bits


@pytest.mark.parametrize(
    ("cores", "mask"), [({0, 1}, "00000003"), ({31}, "80000000"), ({0, 33}, "00000002,00000001"), ((), "00000000")]
)
def test_a_mask_of_cores_has_groups_of_32(cores: set[int], mask: str) -> None:
    assert linux.core_mask(cores) == mask


@pytest.mark.root
@pytest.mark.parallel
def test_held_memory_is_there_before_it_is_written_to() -> None:
    pages = mmap.mmap(-1, 8 << 20)
    child = os.fork()
    if child == 0:
        linux.hold_memory()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for place in range(0, len(pages), mmap.PAGESIZE):
            pages[place] = 1
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        os._exit(faults > 100)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.root
@pytest.mark.parallel
@pytest.mark.parametrize("late", [False, True])
def test_a_new_namespaces_first_process_ends_with_its_parent(late: bool) -> None:
    """Also if the parent was killed between the fork and the child's first step; inside, `getppid` is 0 all along."""
    seen, shown = os.pipe()
    told, tell = os.pipe()
    parent = os.fork()
    if parent == 0:
        try:
            linux.unshare(linux.CLONE_NEWPID)
            lifeline = linux.Lifeline()
            if os.fork():
                signal.pause()
            os.close(tell)
            if late:
                os.write(shown, b"forked")
                os.read(told, 1)  # until nobody can write any more: the parent is about to go
                time.sleep(0.2)
            lifeline.die_with_parent()
            os.write(shown, b"lives")
            signal.pause()
        finally:
            os._exit(0)
    os.close(shown)
    os.close(tell)
    assert os.read(seen, 10) == (b"forked" if late else b"lives")
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert linux.wait_readable([seen], 60 * 10**9)
    assert os.read(seen, 10) == b""  # the last one that could write is gone
    os.close(seen)
    os.close(told)
