"""A host's state without a host, for the fakes that are only commands; and one lab for the tests that need one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.emulated_lab import machine
from tests.emulated_lab.lab import Lab
from tests.emulated_lab.spec import HostSpec, nodes
from tests.emulated_lab.store import Store

MakeStore = Callable[..., Store]


@pytest.fixture
def make_store(tmp_path: Path) -> MakeStore:
    """The state of a new host with a card, or of a switch."""

    def make(card: str = "bf3", switch: str = "sonic", **settings: object) -> Store:
        host, other = nodes([HostSpec(card, **settings)] if card else ["bf3"], [switch])  # type: ignore[arg-type]
        store = Store(tmp_path)
        store.write(machine.new(host if card else other))
        return store

    return make


@pytest.fixture(scope="package")
def lab() -> Iterator[Lab]:
    """One for all: tests put back what they change, or boot the host again."""
    with Lab(cards=["bf3", "cx7", HostSpec("bf2", driver="inbox"), HostSpec("cx6dx", vf=True)]) as lab:
        yield lab
