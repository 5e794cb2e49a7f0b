"""A watchdog on the wall clock for code that is not ours and runs in this process, as a plugin does when it is made.

While the thread waits for a core, which others have, the clock stands still.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from testbed.errors import TestbedError

PATIENCE = 60.0  # wall seconds without a sign of life


class _Late(BaseException):
    """Is no Exception, so that nothing that is watched takes it for one of its own."""


@contextmanager
def watched(who: str, error: type[TestbedError]) -> Iterator[None]:
    """Raises ``error``, which names ``who``, if the block does not return within `PATIENCE`.

    By SIGALRM, which only the main thread gets: others are not watched, and neither is who has set an alarm already.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return
    begun = _seconds()

    def ring(_number: int, _frame: FrameType | None) -> None:
        if (left := PATIENCE - (_seconds() - begun)) <= 0:
            raise _Late
        signal.setitimer(signal.ITIMER_REAL, left)

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        yield
    except _Late:
        raise error(late(who, PATIENCE)) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def late(who: str, patience: float) -> str:
    """What is said of it."""
    return f"{who} did not return for {patience:g} s of wall time, and was ended"


def _seconds() -> float:
    """Of wall time, without those for which the main thread waited for a core (Documentation/scheduler/sched-stats)."""
    return time.monotonic() - int(Path("/proc/self/schedstat").read_text().split()[1]) * 1e-9
