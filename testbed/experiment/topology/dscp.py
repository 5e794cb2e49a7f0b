"""DSCPs in an experiment file: one, or several as numbers and ranges."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

DSCPS = 64
USUAL, USUAL_ACK, USUAL_CNP = 26, 0, 48  # of data by convention; of the rack's NICs unless their block says others


def _one(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and value.strip().isdecimal():
        number = int(value)
    else:
        raise ValueError(f"expected a DSCP from 0 to {DSCPS - 1}, got {value!r}")
    if not 0 <= number < DSCPS:
        raise ValueError(f"a DSCP is from 0 to {DSCPS - 1}, got {number}")
    return number


def _range(value: object) -> range:
    first, dash, last = value.partition("-") if isinstance(value, str) else (value, "", "")
    if not dash:
        one = _one(value)
        return range(one, one + 1)
    low, high = _one(first), _one(last)
    if low > high:
        raise ValueError(f"'{value}' is no range: its first DSCP is the larger one")
    return range(low, high + 1)


def _several(value: object) -> tuple[int, ...]:
    parts = value if isinstance(value, list | tuple) else [value]
    found = [one for part in parts for one in _range(part)]
    if not found:
        raise ValueError("expected at least one DSCP")
    twice = next((one for place, one in enumerate(found) if one in found[:place]), None)
    if twice is not None:
        raise ValueError(f"names the DSCP {twice} twice")
    return tuple(sorted(found))


def _written(dscps: tuple[int, ...]) -> list[int | str]:
    """As short as it can be: ``[0-7, 10]``."""
    runs: list[list[int]] = []
    for one in dscps:
        if runs and one == runs[-1][1] + 1:
            runs[-1][1] = one
        else:
            runs.append([one, one])
    return [first if first == last else f"{first}-{last}" for first, last in runs]


_ONE = {"type": "integer", "minimum": 0, "maximum": DSCPS - 1}
_SOME = {"anyOf": [_ONE, {"type": "string", "pattern": r"^\d+(-\d+)?$", "examples": ["0-7"]}]}

Dscp = Annotated[int, BeforeValidator(_one), Field(ge=0, lt=DSCPS)]
Dscps = Annotated[
    tuple[int, ...],
    BeforeValidator(_several),
    PlainSerializer(_written, when_used="json"),
    WithJsonSchema({"anyOf": [*_SOME["anyOf"], {"type": "array", "items": _SOME, "minItems": 1}]}),
]
