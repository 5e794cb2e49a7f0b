"""What this machine denies, and what is nested deeper than Python can follow: one message each, and no traceback.

Memory, processes, open files, room on a disk and files may be denied anywhere; so whoever would report an unexpected
error asks here first. `NO_MEMORY` is the exit code by which C says so, which cannot raise (testbed/agent/memory.h).
"""

from __future__ import annotations

import errno
import traceback

from testbed.errors import BadInput, TestbedError

NO_MEMORY = 12
MEMORY = (
    "there is not enough memory: free some or raise its limit (ulimit -v), or ask for less: fewer flows, a shorter "
    "run, a longer record.interval, or fewer --jobs"
)
DEPTH = "an input is nested too deeply: no file that testbed reads needs more than a few levels"
DENIED = {
    errno.ENOMEM: MEMORY,
    errno.EAGAIN: "no more processes or threads may be started: end some, or raise their limit (ulimit -u)",
    errno.EMFILE: "too many files are open: raise their limit (ulimit -n), or ask for fewer --jobs, hosts or captures",
    errno.ENFILE: "too many files are open on this machine: close some",
    errno.ENOSPC: "no space is left on the disk: make room, or give another folder (--out; TMPDIR for temporary files)",
    errno.EDQUOT: "your quota of the disk is used up: make room, or give another folder (--out)",
}
# What the dynamic linker, threads and pathlib raise without a number.
UNNUMBERED = {
    "cannot allocate memory": MEMORY,
    "failed to map segment": MEMORY,
    "can't start new thread": DENIED[errno.EAGAIN],
    "symlink loop": "",
}


def known(error: BaseException) -> TestbedError | None:
    """What to tell the user; None if it is a bug of ours."""
    if isinstance(error, TestbedError):
        return error
    if isinstance(error, RecursionError):
        return BadInput(DEPTH)
    why = _why(error)
    refusal = BadInput if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG else TestbedError
    return refusal(why) if why else None


def _why(error: BaseException) -> str:
    """What the machine has denied; empty if that is not what happened."""
    match error:
        case MemoryError():
            return MEMORY
        case OSError(errno=int(number), strerror=str(reason)):
            why = DENIED.get(number) or f"{reason[:1].lower()}{reason[1:]}"
            return f"{error.filename}: {why}" if error.filename else why
        case ImportError() | OSError() | RuntimeError():
            said = str(error).lower()
            return next((why or str(error) for what, why in UNNUMBERED.items() if what in said), "")
    return ""


def told(error: BaseException) -> str:
    """For the user, also of a bug."""
    return str(known(error) or "this is a bug in testbed:\n" + "".join(traceback.format_exception(error)).rstrip())


def ended(code: int) -> str:
    """How a process ended, by its exit code; below 0 by a signal."""
    if code == NO_MEMORY:
        return MEMORY
    return f"signal {-code}" if code < 0 else f"exit code {code}"
