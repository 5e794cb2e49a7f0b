"""Versions of what runs here. Imports little: every node of a cluster asks before it does anything else."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import testbed
from testbed.results.commit import commit

COMPUTING = ("numpy", "numba", "pyarrow", "onnxruntime")  # what figures may depend on, in their last digits


@cache
def versions() -> dict[str, str]:
    """Of what runs here: as this process began, for a sweep or a reproduction asks for each run."""
    found = {
        "testbed": testbed.__version__,
        "commit": commit(),
        "python": platform.python_version(),
        **{name: _installed(name) for name in COMPUTING},
        "kernel": platform.release(),
    }
    return {name: one for name, one in found.items() if one}


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # of an extra
        return ""
