"""What a family of settings has to offer: one small class per kernel interface or tool."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from .target import Target


@dataclass(frozen=True)
class Setting:
    """One setting and the value that it should have; None: it should not be there (a mapping, a directory)."""

    backend: str
    name: str
    value: str | None

    @property
    def title(self) -> str:
        """For messages: ``ecn roce_rp/rpg_ai_rate``."""
        return f"{self.backend} {self.name}"


@dataclass(frozen=True)
class Change:
    """A setting that differs from what was read."""

    setting: Setting
    before: str | None


class Backend(ABC):
    """Settings of one kind on one target. Values are text without the newline, as the host prints them."""

    name: ClassVar[str]
    removes: ClassVar[bool] = False  # a setting that was not there before can be taken away again

    def __init__(self, target: Target) -> None:
        self.target = target

    @abstractmethod
    def names(self) -> list[str]:
        """All settings that there are: what a snapshot keeps. Empty where the host has nothing of this kind."""

    @abstractmethod
    def read(self, names: Iterable[str]) -> dict[str, str | None]:
        """The active values; None for what is not there."""

    @abstractmethod
    def write(self, name: str, value: str | None) -> None:
        """Set one. Raises LabError if the host refuses; what it ignores silently is found by reading back."""

    def finish(self) -> None:  # noqa: B027 - most tools have no commit
        """All writes were made: the place for a tool's commit."""

    def order(self, changes: list[Change]) -> list[Change]:
        """The order in which changes are safe."""
        return changes

    def equal(self, name: str, wanted: str | None, found: str | None) -> bool:  # noqa: ARG002 - for rounding backends
        """Whether a setting is as wanted; numbers are compared as numbers."""
        return number(wanted) == number(found)


class Printed(Backend):
    """Settings that a tool prints all at once: it is asked once, and again after a write."""

    _known: dict[str, str | None] | None = None

    @abstractmethod
    def show(self) -> dict[str, str | None]:
        """All settings with their values; empty if this host has none of them. Raises LabError."""

    @abstractmethod
    def put(self, name: str, value: str | None) -> None:
        """Set one."""

    def names(self) -> list[str]:
        return sorted(self.known())

    def read(self, names: Iterable[str]) -> dict[str, str | None]:
        known = self.known()
        return {name: known.get(name) for name in names}

    def write(self, name: str, value: str | None) -> None:
        self._known = None
        self.put(name, value)

    def known(self) -> dict[str, str | None]:
        """What was shown last, if nothing was written since."""
        if self._known is None:
            self._known = self.show()
        return self._known

    def forget(self) -> None:
        """Ask again at the next reading."""
        self._known = None


def number(text: str | None) -> int | str | None:
    """``0x10`` and ``16`` are the same setting; other text stands for itself."""
    try:
        return int(text, 0) if text is not None else None
    except ValueError:
        return text.strip() if text is not None else None
