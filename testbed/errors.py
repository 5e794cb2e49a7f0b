"""Errors that a user sees, each with the exit code that the command line returns.

A message names the thing, what was expected and what to do. User errors never show a traceback.
"""

from __future__ import annotations

from collections.abc import Callable


class TestbedError(Exception):
    """Something went wrong while running: exit code 1."""

    __test__ = False  # not a pytest class
    exit_code = 1


class BadInput(TestbedError):
    """The user's input cannot be used: exit code 2, and nothing was built."""

    exit_code = 2


class Uncalibrated(TestbedError):
    """The rack that was built is not the one that was asked for, whatever runs in it: this machine cannot do it now."""


class PluginFailed(TestbedError):
    """A plugin raised while it ran; names the plugin, file and line."""


class UnusableDecision(Exception):
    """What a controller's ``callback`` decided cannot be applied; ``place`` is file and line, if they are known."""

    def __init__(self, callback: Callable[..., object], why: str) -> None:
        super().__init__(why)
        self.callback = callback
        self.place: tuple[str, int] | None = None

    @classmethod
    def of(cls, callback: Callable[..., object], rate: float, window: float, timer: float) -> UnusableDecision:
        """One that no agent can enforce."""
        said = f"set rate {rate} bit/s, window {window} bytes and timer {timer} s for a flow"
        return cls(callback, f"{said}; expected positive numbers, and a time or inf")


def nearest(word: str, allowed: list[str]) -> str:
    """The hint that ends an error message: the nearest allowed value, or all of them.

    >>> nearest("dcqn", ["dcqcn", "swift"])
    "did you mean 'dcqcn'? (allowed: dcqcn, swift)"
    """
    import difflib

    close = difflib.get_close_matches(word, allowed, n=1)
    listed = f"allowed: {', '.join(sorted(allowed))}" if allowed else "none is available"
    return f"did you mean '{close[0]}'? ({listed})" if close else listed
