"""Versions of what runs here. Imports little: every node of a cluster asks before it does anything else."""

from __future__ import annotations

import platform
from importlib.metadata import version

import testbed
from testbed.results.commit import commit


def versions() -> dict[str, str]:
    """Of what runs here."""
    found = {
        "testbed": testbed.__version__,
        "commit": commit(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "kernel": platform.release(),
    }
    return {name: one for name, one in found.items() if one}
