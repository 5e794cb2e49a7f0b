"""Quantities with units: text such as ``100 Gbit/s`` to SI numbers and back.

Everything inside testbed is SI: seconds, bytes, bit/s, plain ratios. Prefixes are decimal (1 kB = 1000 B, as in the
ECN thresholds of the papers); the IEC prefixes KiB, MiB, GiB are understood for bytes. Use the annotated types in
any pydantic model: ``Rate``, ``Time``, ``Size``, ``Ratio``. They take text with a unit, or a number of 0 with none.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

RATE_UNITS = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12}
TIME_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
SIZE_UNITS = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3}
RATIO_UNITS = {"": 1.0, "%": 0.01}

# Spellings in common use for the same unit; the key is lower case.
ALIASES = {
    "gbps": "Gbit/s", "mbps": "Mbit/s", "kbps": "kbit/s", "bps": "bit/s", "tbps": "Tbit/s",
    "gbit": "Gbit/s", "mbit": "Mbit/s", "kbit": "kbit/s", "tbit": "Tbit/s",
    "gb/s": "Gbit/s", "mb/s": "Mbit/s", "kb/s": "kbit/s",
    "µs": "us", "μs": "us", "usec": "us", "msec": "ms", "sec": "s", "kb": "kB", "mb": "MB", "gb": "GB",
    "kib": "KiB", "mib": "MiB", "gib": "GiB", "b": "B", "byte": "B", "bytes": "B",
}  # fmt: skip
AMBIGUOUS = {"GB/s", "MB/s", "kB/s", "KB/s"}  # bytes per second, never meant for a link rate

_QUANTITY = re.compile(r"^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\s\d].*?)?\s*$")


def parse(text: object, units: dict[str, float], kind: str) -> float:
    """Turn ``"8 us"`` into ``8e-6``. Raises ValueError with the allowed units.

    A bare number is refused, because its unit is unknown - except 0, infinity's text ``inf``, and ratios.
    """
    if isinstance(text, bool):
        raise ValueError(f"expected {kind}, got {text}")
    if isinstance(text, int) and abs(text) > sys.float_info.max:
        raise ValueError(f"a number of {len(str(abs(text)))} digits is too large for {kind}")
    if isinstance(text, int | float):
        if text == 0 or "" in units or math.isinf(text):
            return float(text)
        raise ValueError(f"{text} has no unit; write for example '{text:g} {_example(units)}'")
    match = _QUANTITY.match(str(text))
    if match is None:
        raise ValueError(f"'{text}' is not {kind}; write for example '8 {_example(units)}'")
    number, unit = Decimal(match[1]), match[2] or ""
    if unit not in units:
        unit = "" if unit in AMBIGUOUS else ALIASES.get(unit.lower(), unit)
    if unit in units:
        return float(number * Decimal(repr(units[unit])))  # the nearest to what was written, as 8e-6 is
    if number == 0 and not match[2]:
        return 0.0
    named = f"unknown unit '{match[2]}'" if match[2] else "no unit"
    raise ValueError(f"'{text}' has {named} for {kind}; allowed: {', '.join(u for u in units if u)}")


def _example(units: dict[str, float]) -> str:
    return {"bit/s": "Gbit/s", "ns": "us", "B": "kB"}.get(next(iter(units)), "%")


def show(value: float, units: dict[str, float]) -> str:
    """Print an SI value with the unit that reads best: ``show(8e-6, TIME_UNITS) == "8 us"``."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {next(iter(units))}".strip()
    shown = _shown(tuple(units))
    unit = next((unit for unit in reversed(shown) if abs(value) >= units[unit] * (1 - 1e-12)), shown[0])
    return f"{value / units[unit]:.6g} {unit}"


@cache
def _shown(units: tuple[str, ...]) -> list[str]:
    """Of these, those of powers of ten."""
    return [unit for unit in units if "i" not in unit.split("/")[0].removesuffix("bit") and unit != "h"]


def exactly(value: float, units: dict[str, float]) -> str:
    """The same with as many digits as it takes to read the same value again."""
    text = show_ratio(value) if "" in units else show(value, units)
    if not math.isfinite(value) or parse(text, units, "") == value:
        return text
    if "" in units:
        return repr(value)
    unit = text.partition(" ")[2]
    return f"{(Decimal(repr(value)) / Decimal(repr(units[unit]))).normalize():f} {unit}".strip()


def show_rate(value: float) -> str:
    """Bit/s as text, for example ``100 Gbit/s``."""
    return show(value, RATE_UNITS)


def show_time(value: float) -> str:
    """Seconds as text, for example ``8 us``."""
    return show(value, TIME_UNITS)


def show_size(value: float) -> str:
    """Bytes as text, for example ``5 MB``."""
    return show(value, SIZE_UNITS)


def rounded(value: float, digits: int = 4) -> float:
    """To so many digits, which are enough for a reader."""
    return float(f"{value:.{digits}g}")


def counted(number: int, noun: str) -> str:
    """`1 flow`, `2 flows`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def show_ratio(value: float) -> str:
    """A ratio as a plain number."""
    return f"{value:.6g}"


@dataclass(frozen=True, eq=False)
class _AsText:
    """Tells pydantic what it would find out by looking at functions, which takes a tenth of a short run's start."""

    read: Callable[[object], float | str]
    write: Callable[[Any], str]
    form: dict[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        told = core_schema.plain_serializer_function_ser_schema(
            self.write, return_schema=core_schema.str_schema(), when_used="json"
        )
        return core_schema.no_info_before_validator_function(self.read, handler(source), serialization=told)

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: object) -> dict[str, Any]:
        return self.form.copy()


def _quantity(units: dict[str, float], kind: str, example: str) -> _AsText:
    def read(value: object) -> float:
        return parse(value, units, kind)

    def write(value: float) -> str:
        return exactly(value, units)

    pattern = "^.*(" + "|".join(re.escape(u) for u in units if u) + ")$"
    text = {"type": "string", "pattern": pattern, "examples": [example]}
    schema = {"anyOf": [text, {"type": "number"}]} if "" in units else {"anyOf": [text, {"const": 0}]}
    return _AsText(read, write, schema)


def _automatic(units: dict[str, float], kind: str, example: str) -> _AsText:
    def read(value: object) -> float | str:
        return "auto" if value == "auto" else parse(value, units, f"{kind} or 'auto'")

    def write(value: float | str) -> str:
        return value if isinstance(value, str) else exactly(value, units)

    return _AsText(read, write, {"type": "string", "examples": ["auto", example]})


Rate = Annotated[float, _quantity(RATE_UNITS, "a rate", "100 Gbit/s")]
Time = Annotated[float, _quantity(TIME_UNITS, "a time", "8 us")]
Size = Annotated[float, _quantity(SIZE_UNITS, "a size", "5 MB")]
Ratio = Annotated[float, _quantity(RATIO_UNITS, "a ratio", "20 %")]
AutoOrTime = Annotated[float | Literal["auto"], _automatic(TIME_UNITS, "a time", "100 us")]
AutoOrSize = Annotated[float | Literal["auto"], _automatic(SIZE_UNITS, "a size", "100 kB")]
