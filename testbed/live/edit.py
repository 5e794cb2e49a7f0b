"""A change of a run that goes on, as it is asked for and as it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from testbed.experiment.events import Value


class Edit(NamedTuple):
    """Keys are those of `set` in `events`, or `down`, `up` and `detected_after`."""

    number: int
    settings: Mapping[str, Value]


class Edited(NamedTuple):
    """It is an event of the run now, or there is a problem."""

    number: int
    at: float = 0.0  # nominal s
    what: str = ""
    problem: str = ""


class Accepting(Protocol):
    """Makes an edit an event of the run, at nominal time ``now``."""

    def __call__(self, edit: Edit, now: float) -> Edited: ...


class Editable(Protocol):
    """A run that goes on and can be edited."""

    def ask_to_edit(self, edit: Edit) -> None:
        """It answers by `Observer.on_edited`."""
        ...
