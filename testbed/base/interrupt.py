"""Ctrl-C, for as long as something goes on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_ctrl_c(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call ``handler`` on SIGINT. Only a main thread hears of signals: in another one nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
