"""systemd units: their state, and putting it back."""

from __future__ import annotations

from dataclasses import dataclass

from .command import call


@dataclass(frozen=True)
class Unit:
    """What a unit did when it was looked at."""

    active: bool
    enabled: bool


def inspect(name: str) -> Unit:
    """The state of a unit; one that does not exist is neither active nor enabled."""
    return Unit(
        active=call("systemctl", "is-active", "--quiet", name).status == 0,
        enabled=call("systemctl", "is-enabled", "--quiet", name).status == 0,
    )


def stop(name: str) -> None:
    """End a unit, also one that is down for the moment and waits to be started again: ``is-active`` is false there."""
    call("systemctl", "stop", name)  # fails for a unit that does not exist; what matters is looked at afterwards
    call("systemctl", "reset-failed", name)  # or its failures of before count against its next start
