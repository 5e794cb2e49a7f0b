"""What `make bench` can measure is there."""

from __future__ import annotations

import pytest

from bench.__main__ import COMPARED, LONG, NAMES, ROOTLESS, _part


@pytest.mark.parametrize("name", NAMES)
def test_every_name_has_its_part(name: str) -> None:
    assert _part(name).__name__ == f"of_{name.replace('-', '_')}"


def test_what_is_said_of_parts_names_them() -> None:
    assert {*COMPARED, *ROOTLESS} | LONG <= {*NAMES}
