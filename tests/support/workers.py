"""What the processes have in common that run tests side by side, or one after the other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def of_all_workers(factory: pytest.TempPathFactory) -> Path:
    """A folder, in which those of all workers lie; from `scripts/test` that of all its runs of pytest."""
    if "TESTBED_TESTS_SHARED" in os.environ:
        return Path(os.environ["TESTBED_TESTS_SHARED"])
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
