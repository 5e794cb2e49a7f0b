"""The program on a NIC, as its log and its process tell: neither systemd nor an exit code does."""

from __future__ import annotations

import os
import re

from testbed.engines.lab.exporter.documents import PCC, Rollout
from testbed.engines.lab.exporter.files import Files, whole

STATE = re.compile(r"PCC host status (Active|Standby|Deactivated|Error)\b")
GONE = "gone"


def states(files: Files, rollout: Rollout | None) -> dict[str, str]:
    """By device: those that have a log, or should have a program."""
    logs = {name.removesuffix(".log") for name in files.names(PCC) if name.endswith(".log")}
    wanted = {name for name, one in rollout.devices.items() if one.pcc} if rollout else set()
    return {device: _state(files, device) for device in sorted(logs | wanted)}


def _state(files: Files, device: str) -> str:
    """What the log said last; a process that was killed leaves a log that says Active."""
    said = STATE.findall(files.read(f"{PCC}/{device}.log") or "")
    process = whole(files.read(f"{PCC}/{device}.pid") or "")
    return str(said[-1]).lower() if said and process is not None and _lives(process) else GONE


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:  # another user's
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return process > 0
