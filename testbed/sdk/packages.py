"""The versions of packages that a result of training depends on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version


def versions(*packages: str) -> dict[str, str]:
    """What a result depends on."""
    found = {"python": platform.python_version()}
    for package in ("cc-testbed", *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
