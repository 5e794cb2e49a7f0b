"""Which commit the code is of, where it runs from a git checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
# Through sudo the checkout is another user's, which git refuses to look at; its own programs are not run.
GIT = ("git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false")


def commit(checkout: Path = CHECKOUT) -> str:
    """Its hash, with ``-dirty`` if a file differs from it; empty if this is no checkout, or there is no git."""
    if not (checkout / ".git").exists():  # of this folder, and not of one in which testbed happens to be installed
        return ""
    asked = [*GIT, "-C", str(checkout), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
