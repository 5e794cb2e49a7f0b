"""A browser for the tests of this folder: started once, and closed before others start theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    from tests.support.browsing import chromium  # without playwright the tests skip

    with chromium() as one:
        yield one
