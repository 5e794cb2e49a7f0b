"""What a class declares as its state."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
import pytest

from testbed.base.arrays import Floats
from testbed.base.fields import Constant, Length, fields_of, unknown
from testbed.errors import BadInput


class Base:
    name: ClassVar[str]
    rate: float
    config: object


class State(Base):
    steps: int
    fast: bool
    history: Annotated[list[float], Length(3)]
    table: Annotated[Floats, Constant()]


class Text(Base):
    word: str


class Missing(Base):
    word: Nowhere  # type: ignore[name-defined]  # noqa: F821


FIELDS = fields_of(State, ("config",))


def test_annotations_of_all_classes_are_fields() -> None:
    assert list(FIELDS) == ["rate", "steps", "fast", "history", "table"]
    assert [one.kind for one in FIELDS.values()] == [float, int, bool, float, float]
    assert [one.length for one in FIELDS.values()] == [0, 0, 0, 3, 0]
    assert [one.empty for name, one in FIELDS.items() if name != "table"] == [0.0, 0, False, [0.0] * 3]


def test_what_fits_becomes_plain_python() -> None:
    assert FIELDS["rate"].fitting(np.float64(2)) == 2.0
    assert type(FIELDS["rate"].fitting(3)) is float
    assert type(FIELDS["steps"].fitting(np.int64(3))) is int
    assert FIELDS["history"].fitting(np.ones(3)) == [1.0] * 3


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(TypeError, match="'steps' is declared int, not float; write steps: float"):
        FIELDS["steps"].fitting(1.5)
    with pytest.raises(TypeError, match="'history' holds 3 numbers, not 2"):
        FIELDS["history"].fitting([1.0, 2.0])


@pytest.mark.parametrize(
    ("form", "says"), [(Text, "'word' is declared str"), (Missing, "name 'Nowhere' is not defined")]
)
def test_other_kinds_are_the_authors_mistake(form: type, says: str) -> None:
    with pytest.raises(BadInput) as error:
        fields_of(form, ("config",))
    assert says in str(error.value)
    assert f"test_fields.py, class {form.__name__}" in str(error.value)


def test_a_misspelt_name_gets_the_nearest() -> None:
    assert "State declares no 'stps'; did you mean 'steps'?" in unknown(State, "stps", FIELDS)
