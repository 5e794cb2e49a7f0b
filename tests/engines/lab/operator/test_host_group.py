"""The end of a run at the operator's: hosts that have detached their programs, and those that did not confirm it."""

from __future__ import annotations

import queue
from types import SimpleNamespace
from typing import Any, cast

import pytest

from testbed.engines.lab.operator import host_group
from testbed.engines.lab.operator.connection import DISCONNECTED, HostConnection, Inbox, Received
from testbed.engines.lab.operator.host_group import HostGroup
from testbed.engines.lab.operator.observed_run import ObservedRun
from testbed.engines.lab.protocol.channel import Message


class Host:
    """A session whose host answers `detach` with this message, or not at all."""

    def __init__(self, name: str, inbox: Inbox, kind: str, **data: Any) -> None:
        self.name, self.inbox, self.kind, self.data = name, inbox, kind, data
        self.disconnected = False

    def __str__(self) -> str:
        return self.name

    def send(self, kind: str) -> None:
        assert kind == "detach"
        if self.kind:
            self.inbox.put(Received(cast(HostConnection, self), Message(self.kind, self.data, {})))

    def why_disconnected(self) -> str:
        return "its process ended with 255"


def differences(*answers: tuple[str, dict[str, Any]]) -> list[str]:
    group = HostGroup(cast(ObservedRun, SimpleNamespace()))
    group.inbox = queue.SimpleQueue()
    hosts = [Host(f"lab{number}", group.inbox, kind, **data) for number, (kind, data) in enumerate(answers, 1)]
    group.connections = cast(list[HostConnection], hosts)
    group.detach()
    return group.differences


def test_all_have_detached() -> None:
    detached: tuple[str, dict[str, Any]] = ("detached", {"differences": []})
    assert differences(detached, ("detached", {"differences": ["eth0: its queue is another one"]}), detached) == [
        "lab2: eth0: its queue is another one"
    ]


def test_a_host_that_does_not_confirm_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = "it did not confirm that its programs are detached"
    monkeypatch.setattr(host_group, "PATIENCE", 60.0)  # a host that is disconnected is not waited for
    assert differences(
        ("detached", {"differences": []}), (DISCONNECTED, {"why": ""}), ("failed", {"why": "no memory"})
    ) == [
        f"lab2: {gone}: its process ended with 255",
        f"lab3: {gone}: no memory",
    ]
    monkeypatch.setattr(host_group, "PATIENCE", 0.1)
    assert differences(("", {})) == ["lab1: it did not confirm within 0.1 s that its programs are detached"]
