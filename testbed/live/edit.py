"""A change of a run that goes on, as it is asked for and as it is answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from testbed.errors import TestbedError
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


def answered(edit: Callable[[dict[str, Any]], Edited], asked: bytes) -> dict[str, object]:
    """What a change comes to, in JSON as it was asked for: when and what it was, or the problem."""
    try:
        done = edit(json.loads(asked)["set"])
    except TestbedError as error:
        return {"problem": str(error)}
    except (ValueError, KeyError, TypeError):
        return {"problem": "it is of another version of testbed"}
    return {"at": done.at, "what": done.what}
