"""Marks and fixtures that all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.census import Census

ROOT = Path(__file__).parent.parent

# Nothing is written into the checkout, which may belong to another user; and the same examples every time.
settings.register_profile("testbed", database=None, derandomize=True, deadline=None)
settings.load_profile("testbed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.geteuid() == 0:
        return
    for item in items:
        if item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason="needs root: sudo -E .venv/bin/python -m pytest"))


@pytest.fixture(autouse=True)
def leaves_nothing(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every root test: no link, namespace, process, mount or pin more than before."""
    if not request.node.get_closest_marker("root"):
        yield
        return
    before = Census.take()
    yield
    left = before.leftovers()
    assert not left, "the test left behind:\n  " + "\n  ".join(left)
