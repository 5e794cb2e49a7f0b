"""How queue pairs recover from losses, and how NICs whose settings are public do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator
from pydantic.config import JsonDict

from testbed.experiment.block import Part, refuse
from testbed.units import TIME_UNITS, Size, exactly, parse, show_time

LOCAL_ACK_TIMEOUT = 4.096e-6  # s; InfiniBand's timeouts are this x 2^N
MOST_N = 31
PERFTEST = "perftest's default, with which ConnectX-5 waited 67.1 ms for a lost last packet"


@dataclass(frozen=True)
class Published:
    """A setting of a NIC, and who says so."""

    value: object
    source: str


PRESETS: dict[str, dict[str, Published]] = {
    "connectx-5": {
        "recovery": Published(
            "go-back-n", "one NAK per gap, what follows it is dropped (hardware measured at 100 Gbit/s)"
        ),
        "timeout": Published(14, PERFTEST),
        "retries": Published(7, "perftest's default, the most that InfiniBand's 3 bits hold"),
    },
    "bluefield-3": {
        "recovery": Published(
            "selective-repeat", "register ROCE_ACCL, selective_repeat_forced_en=1; by default it is 0"
        ),
        "timeout": Published(14, PERFTEST),
        "retries": Published(7, "perftest's default, the most that InfiniBand's 3 bits hold"),
    },
}
"""What is left out is not published: the default profile of adaptive timers, and bitmaps."""


def _timeout(value: object) -> float | str:
    """An int is InfiniBand's N."""
    if value == "auto":
        return "auto"
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= MOST_N:
            raise ValueError(f"a number is InfiniBand's N of 4.096 us x 2^N, from 1 to {MOST_N}; got {value}")
        return float(LOCAL_ACK_TIMEOUT * 2**value)
    time = parse(value, TIME_UNITS, "a time, 'auto', or a number N for 4.096 us x 2^N")
    if time <= 0:
        raise ValueError("must be more than 0")
    return time


def _first_timeout(value: object) -> float | str:
    if value == "auto":
        raise ValueError("a time, or a number N for 4.096 us x 2^N, is expected; 'auto' is for timeout")
    return _timeout(value)


TIMEOUT: list[JsonDict] = [{"type": "string"}, {"type": "integer", "minimum": 1, "maximum": MOST_N}]
Timeout = Annotated[
    float | Literal["auto"],
    BeforeValidator(_timeout),
    PlainSerializer(lambda value: value if value == "auto" else exactly(value, TIME_UNITS), when_used="json"),
    WithJsonSchema({"anyOf": TIMEOUT, "examples": ["auto", 14]}),
]


FirstTimeout = Annotated[
    float,
    BeforeValidator(_first_timeout),
    PlainSerializer(lambda value: exactly(value, TIME_UNITS), when_used="json"),
    WithJsonSchema({"anyOf": TIMEOUT, "examples": ["16 us", 2]}),
]


class Adaptive(Part):
    """Timers that begin short and double up to `timeout`. Not with `per-packet`."""

    first: FirstTimeout = Field(description="The first timeout, as `timeout`.")
    repeats: Annotated[int, Field(strict=True, ge=1)] = Field(
        default=1, description="How often in a row a timeout is waited for before it doubles."
    )

    def waits(self, tries: NDArray[np.int64], longest: float) -> NDArray[np.float64]:
        """s until the next timeout, after so many in a row."""
        return np.minimum(self.first * 2.0 ** np.minimum(tries // self.repeats, MOST_N), longest)

    def retries(self, retries: int, longest: float) -> int:
        """As many as last as long as so many of the longest."""
        enough = np.arange(self.repeats * MOST_N + retries + 1)
        return int(np.searchsorted(self.waits(enough, longest).cumsum(), (retries + 1) * longest * (1 - 1e-9)))


class Transport(Part):
    """[What becomes of a lost packet](transport.md)."""

    preset: Literal["connectx-5", "bluefield-3"] | None = Field(
        default=None, description="A NIC's settings as published; keys beside it win."
    )
    messages: Annotated[Size, Field(gt=0)] | None = Field(
        default=None,
        description="Size of messages, in whole packets; their completion times are figures. By default each packet "
        "is one. Not with `per-packet`.",
    )
    operation: Literal["send", "write"] = Field(
        default="send",
        description="`send`: RC SEND with Immediate; `write`: RC RDMA WRITE with Immediate, with 16 B more a packet, "
        "a RETH in a message's first.",
    )
    ack_every: Annotated[int, Field(strict=True, ge=1)] | Literal["message"] = Field(
        default=1,
        description="One packet of so many asks for an ACK, which stands for all before it, and the last of each "
        "message; `message`: that alone. Flows with a window ask with each packet.",
    )
    recovery: Literal["per-packet", "go-back-n", "selective-repeat"] = Field(
        default="per-packet",
        description="[What a loss costs](transport.md): `per-packet`, `go-back-n` or `selective-repeat`.",
    )
    bitmap: Annotated[int, Field(strict=True)] = Field(
        default=1024,
        description="With `selective-repeat`: packets that a receiver keeps behind a missing one, and that a sender "
        "may be ahead: a power of two, 64 to 2048.",
    )
    timeout: Timeout = Field(
        default="auto",
        description="A time, or InfiniBand's N of 4.096 us x 2^N (14: 67.1 ms); `auto` is three times the longest RTT "
        "with full buffers.",
    )
    adaptive: Adaptive | None = None
    retries: Annotated[int, Field(strict=True, ge=0, le=7)] | None = Field(
        default=None,
        description="Timeouts in a row after which a queue pair sends no more; with `adaptive` as many as last as "
        "long. By default never. Not with `per-packet`.",
    )

    @property
    def numbered(self) -> bool:
        """Whether packet numbers name data, so that what is lost is sent again under its number."""
        return self.recovery != "per-packet"

    @model_validator(mode="before")
    @classmethod
    def _as_published(cls, data: Any) -> Any:
        preset = PRESETS.get(str(data.get("preset")), {}) if isinstance(data, dict) else {}
        return {**{key: one.value for key, one in preset.items()}, **data} if preset else data

    @model_validator(mode="after")
    def _belongs(self) -> Self:
        if self.bitmap not in (64, 128, 256, 512, 1024, 2048):
            refuse("bitmap", f"must be a power of two from 64 to 2048, got {self.bitmap}")
        if self.messages is not None and not self.numbered:
            refuse("messages", "with recovery per packet each packet is one; leave it out, or say recovery: go-back-n")
        if self.ack_every != 1 and self.messages is None:
            refuse("ack_every", "each packet is a message, whose last packet asks; leave it out, or say messages: 1 MB")
        if self.adaptive and not self.numbered:
            refuse(
                "adaptive", "with recovery per packet timers are all alike; leave it out, or say recovery: go-back-n"
            )
        if self.adaptive and self.timeout != "auto" and self.adaptive.first > self.timeout:
            refuse("adaptive.first", f"must not be longer than timeout ({show_time(self.timeout)})")
        if self.retries is not None and not self.numbered:
            refuse("retries", "recovery per packet never gives up; leave it out, or say recovery: go-back-n")
        return self
