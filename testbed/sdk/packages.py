"""Packages that training takes (the extra ``[train]``), and the versions that its results depend on."""

from __future__ import annotations

import platform
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from testbed.errors import BadInput


def need(*packages: str) -> None:
    """Raises BadInput if one of the packages that training takes is missing."""
    for package in packages:
        try:
            import_module(package)
        except ImportError:
            raise BadInput(f"training needs the package {package}: pip install 'cc-testbed[train]'") from None


def versions(*packages: str) -> dict[str, str]:
    """What a result depends on."""
    found = {"python": platform.python_version()}
    for package in ("cc-testbed", *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
