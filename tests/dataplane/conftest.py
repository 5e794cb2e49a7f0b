from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.packets import Bench, bench


@pytest.fixture
def rig() -> Iterator[Bench]:
    """NIC and port programs, freshly loaded, with the port switched on."""
    with bench() as made:
        made.port()
        yield made
