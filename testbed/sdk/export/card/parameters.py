"""What an operator can change on a card: words of 32 bits, whose names end in their unit and their bits of fraction."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, get_args

from pydantic.fields import FieldInfo

from testbed.sdk.export.c.options import declared_bounds
from testbed.sdk.export.program import Parameter
from testbed.units import Rate, Size, Time

WORD = (1 << 32) - 1
FRACTIONS = (40, 32, 24, 16, 8, 4, 0)
ROOM = 1 << 26  # words of defaults are below it, and an operator may go 64 times as high


@dataclass(frozen=True)
class Unit:
    """``scale`` of SI's unit. ``reader`` is the function of the C that makes a number of a word."""

    ending: str
    text: str
    scale: float
    reader: str


SECONDS = Unit("NS_", "ns", 1e-9, "nano")
RATE = Unit("MBPS_", "Mbit/s", 1e6, "mega")
BYTES = Unit("BYTES_", "bytes", 1.0, "real_scaled")
PLAIN = Unit("", "", 1.0, "real_scaled")
BY_TYPE = {get_args(kind)[1]: unit for kind, unit in ((Time, SECONDS), (Rate, RATE), (Size, BYTES))}
BY_COMMENT = {"s": SECONDS, "bit/s": RATE, "bytes": BYTES}
FACTS = {
    "line_rate": (RATE, "of the card's port"), "base_rtt": (SECONDS, "of a probe through empty queues"),
    "longest_rtt": (SECONDS, "the longest base RTT of the network"), "bdp": (BYTES, "bandwidth-delay product"),
    "hops": (PLAIN, "switches on the way"), "payload": (PLAIN, "user data of a full packet, bytes"),
    "wire_size": (PLAIN, "a full packet on the wire, bytes"),
}  # fmt: skip


@dataclass(frozen=True)
class Format:
    """How a word stands for a number."""

    unit: Unit
    bits: int

    def word(self, value: float) -> int:
        """A value in SI's unit."""
        return int(min(round(value / self.unit.scale * 2.0**self.bits), WORD))


def format_of(unit: Unit, value: Any) -> Format:
    """Of a number that begins with ``value``."""
    if not isinstance(value, float):
        return Format(PLAIN, 0)
    scaled = max(value / unit.scale, 1.0 if value == 0 else 0.0)
    return Format(unit, next((bits for bits in FRACTIONS if scaled * 2.0**bits < ROOM), 0))


def of_option(info: FieldInfo) -> Unit:
    """By the type of an option."""
    return next((unit for marker, unit in BY_TYPE.items() if marker in info.metadata), PLAIN)


def of_comment(comment: str) -> Unit:
    """By the remark behind a field's declaration, which names the unit between commas."""
    parts = (part.strip() for part in re.split("[,:;]", comment))
    return next((BY_COMMENT[part] for part in parts if part in BY_COMMENT), PLAIN)


def fits(value: Any) -> bool:
    """Whether a word can have it: no sign, and an end."""
    return math.isfinite(value) and value >= 0


def parameter(name: str, form: Format, value: Any, text: str, limits: tuple[int, int] = (0, WORD)) -> Parameter:
    """For the register."""
    least, most = limits
    initial = min(max(form.word(float(value)), least), most)
    plain = text.replace('"', "'").replace("\\", "/").splitlines()[0].removesuffix(".") if text else name
    ends = f", {form.unit.text}" if form.unit.text and form.unit.text not in plain else ""
    return Parameter(f"{name.upper()}_{form.unit.ending}FXP{form.bits}", initial, least, most, f"{plain[:90]}{ends}")


def bounds(info: FieldInfo, form: Format) -> tuple[int, int]:
    """Of an option, as words."""
    least, most = 0, WORD
    for name, value in declared_bounds(info):
        if name in ("ge", "gt"):
            least = max(least, form.word(value), int(name == "gt"))
        else:
            most = min(most, form.word(value) - int(name == "lt"))
    return least, most
