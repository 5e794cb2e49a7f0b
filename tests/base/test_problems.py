"""What pydantic finds wrong, in our words."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from testbed.base.problems import problem


class Options(BaseModel):
    share: float = Field(default=0.0, le=1)
    online: bool = False
    window: Literal["none", "bdp"] = "none"
    names: list[str] = []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"share": 1.2}, "must be at most 1, got 1.2"),
        ({"share": "much"}, "expected a number, got 'much'"),
        ({"online": "maybe"}, "expected true or false, got 'maybe'"),
        ({"window": "bdb"}, "'bdb' is not allowed; did you mean 'bdp'? (allowed: bdp, none)"),
        ({"names": 3}, "expected a list, got '3'"),
    ],
)
def test_problems(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Options(**given)
    assert problem(caught.value.errors()[0]) == said
