"""A module that is imported when a test uses it: each worker collects all tests, and who holds torch forks slowly."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


class Lazily:
    """What ``import name`` gives."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", "_mock")):  # pytest looks for them
            raise AttributeError(name)
        return getattr(import_module(self._name), name)
