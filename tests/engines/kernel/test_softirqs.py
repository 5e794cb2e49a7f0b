"""ksoftirqd is a real-time thread during a run, and as before after it, whatever ended the run."""

from __future__ import annotations

import os
import signal
import time

import pytest

from testbed.engines.kernel import softirqs

pytestmark = pytest.mark.root  # alone: other runs have the same threads

PATIENCE = 20.0  # s


def policies() -> set[int]:
    return {os.sched_getscheduler(thread) for thread in softirqs.threads()}


def become(policy: int) -> bool:
    """Whether they do; the machine may be busy."""
    end = time.monotonic() + PATIENCE
    while policies() != {policy} and time.monotonic() < end:
        time.sleep(0.01)
    return policies() == {policy}


def test_there_is_one_per_core() -> None:
    if not softirqs.threads():
        pytest.skip("the kernel's threads are not to be seen in this PID namespace")
    assert len(softirqs.threads()) == os.cpu_count()


@pytest.mark.skipif(not softirqs.threads(), reason="the kernel's threads are not to be seen in this PID namespace")
class TestFirst:
    def test_only_meanwhile(self) -> None:
        with softirqs.first():
            assert become(os.SCHED_FIFO)
            with softirqs.first():  # a second run leaves them to the first
                pass
            assert policies() == {os.SCHED_FIFO}
        assert policies() == {os.SCHED_OTHER}

    def test_and_after_the_run_was_killed(self) -> None:
        run = os.fork()
        if run == 0:
            with softirqs.first():
                time.sleep(PATIENCE)
            os._exit(0)
        assert become(os.SCHED_FIFO)
        os.kill(run, signal.SIGKILL)
        os.waitpid(run, 0)
        assert become(os.SCHED_OTHER)
