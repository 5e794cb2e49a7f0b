"""Apply this host's promoted settings again: at boot, and when the driver has made the card's devices anew.

Only what a rollout has verified and promoted, never ``rollout.json``, which may be of one that was ended half way.
"""

from __future__ import annotations

import sys
import time

from . import batch, desired, host_files, lock
from .backend import Setting
from .errors import LabError
from .target import Target

PATIENCE = 60.0  # s until all that is set is there: devices come one after another, a program registers itself late


def apply(anywhere: Target, patience: float = PATIENCE) -> str:
    """Returns what was done, for the journal. Raises LabError if a setting could not be made in ``patience`` s."""
    rollout = lock.holder(anywhere)
    if rollout is not None:
        return f"rollout '{rollout}' holds this host, and its verification finds what is missing: nothing done"
    target, settings = desired.load(anywhere, host_files.PROMOTED)
    end = time.monotonic() + patience
    while True:
        try:
            made = _once(target, settings)
        except LabError:
            if time.monotonic() >= end:
                raise
            time.sleep(0.5)
        else:
            return f"{made} of {len(settings)} settings applied again"


def _once(target: Target, settings: list[Setting]) -> int:
    """How many differed. Raises LabError, also if some that were right meanwhile are not: a driver was loaded again."""
    backends = batch.backends_of(target)
    changes = batch.plan(settings, backends)
    batch.apply(changes, backends)
    for change in batch.plan(settings, batch.backends_of(target)):
        raise LabError(f"{change.setting.title} is {change.before!r} again, not {change.setting.value!r}; who sets it?")
    return len(changes)


def main() -> int:
    """The command on the host; exit code 1 if a setting could not be made."""
    try:
        print(f"settings: {apply(Target(interface=''))}")
    except LabError as error:
        print(f"settings: {error}", file=sys.stderr)
        return 1
    return 0
