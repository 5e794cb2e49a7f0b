"""One rollout at a time: a lock on the host, in the name of the rollout. It is gone after a reboot, as settings are."""

from __future__ import annotations

import os
import time
from pathlib import Path

from . import host_files
from .errors import Refused
from .target import Target


def holder(target: Target) -> str | None:
    """Which rollout holds this host; None if nobody does."""
    data = host_files.read_json(_path(target))
    return None if data is None else str(data.get("rollout", "unknown"))


def check(target: Target, rollout: str) -> None:
    """Raises Refused, with the other's name, if another rollout holds this host."""
    other = host_files.read_json(_path(target))
    if other is not None and other.get("rollout") != rollout:
        since = time.strftime("%F %T", time.gmtime(float(other.get("since", 0))))
        raise Refused(
            "other-rollout",
            f"rollout '{other.get('rollout')}' from {other.get('controller', 'somewhere')} holds this host since "
            f"{since} UTC; wait for its end, or end it: "
            f"ansible-playbook rollback.yml -e rollout_id={other.get('rollout')}",
        )


def acquire(target: Target, rollout: str, controller: str) -> None:
    """Take the lock, once more if it is ours. Raises Refused if another rollout was faster."""
    path = _path(target)
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    text = host_files.as_json({"rollout": rollout, "controller": controller, "since": time.time()})
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    host_files.write(scratch, text)
    try:
        os.link(scratch, path)  # a name that exists is refused, and nobody ever sees an empty lock
    except FileExistsError:
        check(target, rollout)
    finally:
        scratch.unlink()


def release(target: Target, rollout: str) -> bool:
    """Give the lock back if it is this rollout's. Returns whether it was."""
    if holder(target) != rollout:
        return False
    _path(target).unlink(missing_ok=True)
    return True


def _path(target: Target) -> Path:
    return target.path(host_files.LOCK)
