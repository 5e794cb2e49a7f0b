"""`testbed version`."""

from __future__ import annotations


def version() -> None:
    """Print the version."""
    from testbed import __version__

    print(__version__)
