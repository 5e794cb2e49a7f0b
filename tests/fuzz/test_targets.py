"""A few damaged inputs for each target, and those that made trouble before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.fuzz import fuzz, tell
from tests.fuzz.targets import TARGETS

FOUND = Path(__file__).parent / "found"


@pytest.mark.parametrize("name", TARGETS)
def test_each_refuses_what_it_cannot_use(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]()
    refused = [tell(target, one, tmp_path, allowed={0, 3}) for one in target.seeds]
    assert [one for one in refused if one] == []
    known = [tell(target, one.read_bytes(), tmp_path) for one in sorted((FOUND / name).glob("*"))]
    assert [one for one in known if one] == []
    assert fuzz(target, examples=4, number=1, folder=tmp_path) == {}
