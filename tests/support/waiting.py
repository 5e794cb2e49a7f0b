"""Waiting for what another process does: a test says what it waits for, and for how long at most."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 200.0  # s: with a busy machine; whatever takes longer will never come


def until(so: Callable[[], object], seconds: float = PATIENCE, every: float = 0.02) -> None:
    """Look ``every`` so many seconds; AssertionError if it is not so after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < deadline, f"it did not happen within {seconds:g} s"
        time.sleep(every)
