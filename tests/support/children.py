"""What the processes took that this one has started."""

from __future__ import annotations

import resource


def cpu_of_children() -> float:
    """Seconds, of those that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
