"""What can go wrong on a host; every message names the setting or the command, and what was expected."""

from __future__ import annotations


class LabError(Exception):
    """Something on the host is not as it has to be."""


class Refused(LabError):
    """Nothing was done, for a reason that has a name (``wrong-card``, ``other-rollout``)."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason


class Ignored(LabError):
    """A setting was written without an error, and reads back as something else."""

    def __init__(self, settings: list[str]) -> None:
        super().__init__("written, but read back as something else: " + "; ".join(settings))
        self.settings = settings
