"""The options that a controller in C declares (testbed_cc.h): as a class of options, and as its struct."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from ctypes import c_char_p, c_double, c_int64
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, create_model

from testbed.compiled.options import numbers
from testbed.errors import BadInput, nearest
from testbed.plugin import PluginConfig
from testbed.units import Rate, Ratio, Size, Time

TYPES = {"double": np.float64, "int64_t": np.int64, "uint32_t": np.uint32, "bool": np.bool_, "cc_choice": np.int64}
UNITS: dict[str, Any] = {"s": Time, "bit/s": Rate, "B": Size, "share": Ratio}
TEXTS = ("type", "name", "range", "unit", "text")
RANGE = re.compile(r"\s*([\[(])\s*([^,\s]+)\s*,\s*([^,\s]+)\s*([\])])\s*")


class COption(ctypes.Structure):
    """struct cc_option."""

    _fields_ = [*((name, c_char_p) for name in TEXTS), ("initial", c_double), ("offset", c_int64)]


@dataclass(frozen=True)
class Option:
    """One declared option."""

    type: str
    name: str
    range: str
    unit: str
    text: str
    initial: float
    offset: int

    @property
    def field(self) -> tuple[Any, Any]:
        """For pydantic. Raises ValueError."""
        if self.type not in TYPES:
            raise ValueError(f"type '{self.type}'; {nearest(self.type, list(TYPES))}")
        if self.type == "cc_choice":
            texts = tuple(self.range.split("|"))
            if not 0 <= self.initial < len(texts):
                raise ValueError(f"the default is number {self.initial:g} of {len(texts)} choices")
            return Literal[texts], Field(default=texts[int(self.initial)], description=self.text)
        plain = {"double": float, "int64_t": int, "uint32_t": int, "bool": bool}[self.type]
        kind, initial = UNITS.get(self.unit, float) if plain is float else plain, plain(self.initial)
        described = f"{self.text} ({self.unit})" if self.unit and self.unit not in UNITS else self.text
        bounds: dict[str, Any] = dict(_bounds(self.range))
        return kind, Field(default=initial, description=described, **bounds)


def declared(file: Path, rows: Any) -> list[Option]:
    """The rows of `cc_options`, which end with one that has no name. Raises BadInput if a text is missing."""
    found: list[Option] = []
    while rows[len(found)].name:
        row = rows[len(found)]
        texts = {name: getattr(row, name) for name in TEXTS}
        if None in texts.values():
            raise BadInput(f"'{file}': option '{row.name.decode()}': a text is NULL; write \"\"")
        told = {name: text.decode() for name, text in texts.items()}
        found.append(Option(**told, initial=row.initial, offset=row.offset))
    return found


def config_of(name: str, file: Path, options: list[Option]) -> type[PluginConfig]:
    """A class of options. Raises BadInput for what cannot be one."""
    fields: dict[str, Any] = {}
    for one in options:
        try:
            fields[one.name] = one.field
            if not _within(one):
                raise ValueError(f"the default {one.initial:g} is not in {one.range}")
        except ValueError as error:
            raise BadInput(f"'{file}': option '{one.name}': {error}") from None
    return create_model(name, __base__=PluginConfig, **fields)


def packed(config: PluginConfig, options: list[Option], size: int) -> NDArray[np.uint8]:
    """`struct cc_options`."""
    memory, values = np.zeros(size, np.uint8), numbers(config)
    for one in options:
        value: NDArray[Any] = np.array(values[one.name], TYPES[one.type])
        memory[one.offset : one.offset + value.nbytes] = np.frombuffer(value.tobytes(), np.uint8)
    return memory


def _bounds(text: str) -> Iterator[tuple[str, float]]:
    if not text.strip():
        return
    found = RANGE.fullmatch(text)
    if not found:
        raise ValueError(f"range '{text}'; expected for example [0, 1] or (0, inf), or an empty text")
    first, least, most, last = found.groups()
    if math.isfinite(float(least)):
        yield ("ge" if first == "[" else "gt"), float(least)
    if math.isfinite(float(most)):
        yield ("le" if last == "]" else "lt"), float(most)


def _within(one: Option) -> bool:
    if one.type == "cc_choice":
        return True
    beyond = {"ge": np.less, "gt": np.less_equal, "le": np.greater, "lt": np.greater_equal}
    return not any(beyond[kind](one.initial, bound) for kind, bound in _bounds(one.range))
