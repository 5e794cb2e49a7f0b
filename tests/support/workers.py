"""What the processes have in common that run tests side by side."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def of_all_workers(factory: pytest.TempPathFactory) -> Path:
    """A folder, in which those of all workers lie."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
