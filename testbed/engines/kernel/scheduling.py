"""What Linux's scheduler lets go before agents, though these are real-time processes."""

from __future__ import annotations

import gzip
import platform
import re
from pathlib import Path

MODELS = {"PREEMPT_RT": "full", "PREEMPT": "full", "PREEMPT_LAZY": "lazy", "PREEMPT_VOLUNTARY": "voluntary"}
INTERRUPTING = ("full", "lazy")  # lazy waits for a tick with usual processes, never with real-time ones


def preemption(root: Path = Path("/")) -> str:
    """Whether system calls of others are interrupted for them: none, voluntary, lazy, full; empty if nobody says it."""
    shown = _read(root / "sys/kernel/debug/sched/preempt")
    if now := re.search(r"\((\w+)\)", shown):
        return now[1]
    if asked := re.search(r"\bpreempt=(\w+)", _read(root / "proc/cmdline")):
        return asked[1]
    config = _read(root / "proc/config.gz") or _read(root / f"boot/config-{platform.release()}")
    if not config:
        return ""
    return next((model for name, model in MODELS.items() if f"\nCONFIG_{name}=y" in config), "none")


def taken(root: Path = Path("/")) -> float:
    """Share of a core that agents must leave to others if they need all of it, in one piece each second."""
    runtime, period = (
        float(_read(root / f"proc/sys/kernel/sched_rt_{name}_us") or 1) for name in ("runtime", "period")
    )
    return 1 - runtime / period if runtime >= 0 else 0.0


def _read(file: Path) -> str:
    try:
        return gzip.decompress(file.read_bytes()).decode() if file.suffix == ".gz" else file.read_text()
    except OSError:
        return ""
