"""The state of the program on a NIC, from its log and its process: neither systemd nor an exit code shows it."""

from __future__ import annotations

import os
import re

from testbed.engines.lab.exporter.documents import Rollout
from testbed.engines.lab.exporter.files import Files, whole
from testbed.engines.lab.shared_names import PCC_LOGS

STATE = re.compile(r"PCC host status (Active|Standby|Deactivated|Error)\b")
GONE = "gone"


def states(files: Files, rollout: Rollout | None) -> dict[str, str]:
    """By device: those that have a log, or should have a program."""
    logs = {name.removesuffix(".log") for name in files.names(PCC_LOGS) if name.endswith(".log")}
    wanted = {name for name, one in rollout.devices.items() if one.pcc} if rollout else set()
    return {device: _state(files, device) for device in sorted(logs | wanted)}


def _state(files: Files, device: str) -> str:
    """The last one in the log; a process that was killed leaves a log that ends with Active."""
    found = STATE.findall(files.read(f"{PCC_LOGS}/{device}.log") or "")
    process = whole(files.read(f"{PCC_LOGS}/{device}.pid") or "")
    return str(found[-1]).lower() if found and process is not None and _is_alive(process) else GONE


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:  # another user's
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return process > 0
