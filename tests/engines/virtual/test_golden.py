"""Small experiments leave the bits that they left when golden.json was written.

If this fails although the change was meant: ``python -m tests.engines.virtual.golden --renew`` says what changed.
"""

from __future__ import annotations

import pytest

from tests.engines.virtual.golden import SMALL, changes, known, made


def test_all_are_known() -> None:
    assert list(known()) == list(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_the_same_bits_as_ever(name: str) -> None:
    assert changes(name, known()[name], made(SMALL[name])) == []
