"""What jobs that distil a network to trees have in common: how far they are, and what they write."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Protocol, TypeVar

from testbed.plugin import PluginConfig
from testbed.sdk.jobs import JobContext, JobProgress

TREES, LOG = "trees.json", "distilled.json"


class Settings(Protocol):
    """Those that all have."""

    trees: int
    depth: int
    attempts: int


class Saved(Protocol):
    """Trees."""

    def save(self, file: Path) -> None:
        """As JSON."""
        ...


Attempt = TypeVar("Attempt")


def counted(
    context: JobContext, settings: Settings, file: Path, verdict: Callable[[Attempt], str]
) -> Callable[[Attempt], None]:
    """To be told of each attempt, and to report it."""
    number = count(1)
    context.report(JobProgress(0, settings.attempts, f"{settings.trees} trees of depth {settings.depth} from {file}"))
    return lambda one: context.report(JobProgress(next(number), settings.attempts, verdict(one)))


def write(context: JobContext, settings: PluginConfig, trees: Saved, file: Path, log: dict[str, Any]) -> dict[str, Any]:
    """The trees, and how they came about, which is returned: with the digest of the network's ``file``."""
    whole = context.about(settings, "numpy", "catboost") | log
    whole["network"]["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    trees.save(context.out / TREES)
    context.log(LOG, whole)
    return whole
