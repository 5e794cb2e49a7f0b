"""Ctrl-C while something goes on."""

from __future__ import annotations

import signal
import threading

from testbed.base.interrupt import on_ctrl_c


def test_the_handler_is_there_and_goes_again() -> None:
    heard: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    with on_ctrl_c(lambda number, _frame: heard.append(number)):
        signal.raise_signal(signal.SIGINT)
    assert heard == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_signals_alone() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with on_ctrl_c(lambda _number, _frame: None):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
