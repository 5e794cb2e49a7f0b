"""The operator's side of the end of a run: who has left, and who did not say so."""

from __future__ import annotations

import queue
from types import SimpleNamespace
from typing import Any, cast

import pytest

from testbed.engines.lab import run
from testbed.engines.lab.channel import Message
from testbed.engines.lab.overview import Overview
from testbed.engines.lab.run import Crowd
from testbed.engines.lab.session import GONE, Heard, Inbox, Session


class Host:
    """A session whose host answers `leave` with this message, or not at all."""

    def __init__(self, name: str, inbox: Inbox, kind: str, **data: Any) -> None:
        self.name, self.inbox, self.kind, self.data = name, inbox, kind, data
        self.gone = False

    def __str__(self) -> str:
        return self.name

    def say(self, kind: str) -> None:
        assert kind == "leave"
        if self.kind:
            self.inbox.put(Heard(cast(Session, self), Message(self.kind, self.data, {})))

    def why_gone(self) -> str:
        return "its process ended with 255"


def differs(*answers: tuple[str, dict[str, Any]]) -> list[str]:
    crowd = Crowd(cast(Overview, SimpleNamespace()))
    crowd.inbox = queue.SimpleQueue()
    hosts = [Host(f"lab{number}", crowd.inbox, kind, **data) for number, (kind, data) in enumerate(answers, 1)]
    crowd.sessions = cast(list[Session], hosts)
    crowd.leave()
    return crowd.differs


def test_all_have_left() -> None:
    left: tuple[str, dict[str, Any]] = ("left", {"differs": []})
    assert differs(left, ("left", {"differs": ["eth0: its queue is another one"]}), left) == [
        "lab2: eth0: its queue is another one"
    ]


def test_a_host_that_does_not_say_that_it_left_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = "it did not say that it took its programs away"
    monkeypatch.setattr(run, "PATIENCE", 60.0)  # nobody waits for those who cannot answer any more
    assert differs(("left", {"differs": []}), (GONE, {"why": ""}), ("failed", {"why": "no memory"})) == [
        f"lab2: {gone}: its process ended with 255",
        f"lab3: {gone}: no memory",
    ]
    monkeypatch.setattr(run, "PATIENCE", 0.1)
    assert differs(("", {})) == ["lab1: it did not say within 0.1 s that it took its programs away"]
