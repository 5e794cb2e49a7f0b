"""The queues of a switch's ports, as operators configure them: scheduling, RED, what happens to packets without ECT."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, PlainSerializer, Tag, WithJsonSchema, model_validator

from testbed.experiment.block import Count, Part, refuse
from testbed.units import Ratio, Size, show_size

QUEUES = 8
QueueNumber = Annotated[int, Field(ge=0, lt=QUEUES)]
SWITCHED = {True: True, "on": True, False: False, "off": False}  # YAML makes booleans of `on` and `off`


def _switched(value: object) -> bool:
    if isinstance(value, str | bool) and value in SWITCHED:
        return SWITCHED[value]
    raise ValueError(f"expected 'on' or 'off', got {value!r}")


OnOff = Annotated[
    bool,
    BeforeValidator(_switched),
    PlainSerializer(lambda value: "on" if value else "off", when_used="json"),
    WithJsonSchema({"enum": ["on", "off", True, False]}),
]


Alpha = Annotated[float, Field(gt=0, le=1024, strict=False)]
Bytes = Annotated[Size, Field(ge=0)]


class OwnRed(Part):
    """The thresholds of a queue that no tuner sets."""

    kmin: Annotated[Size, Field(ge=0)] = Field(description="Queue up to which no packet is marked.")
    kmax: Annotated[Size, Field(ge=0)] = Field(description="Queue beyond which every packet is marked.")
    pmax: Annotated[Ratio, Field(ge=0, le=1), PlainSerializer(float, when_used="json")] = Field(
        description="Share that is marked at `kmax`."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.kmin > self.kmax:
            refuse("kmin", f"must be at most kmax ({show_size(self.kmax)}), got {show_size(self.kmin)}")
        return self


def _word(value: object) -> object:
    if value is False:  # what YAML makes of `off`
        return "off"
    if value in ("tuner", "off"):
        return value
    raise ValueError(f"expected 'tuner', 'off', or a block with kmin, kmax and pmax, got {value!r}")


def _is_block(value: object) -> str:
    return "block" if isinstance(value, dict | OwnRed) else "word"


Red = Annotated[
    Annotated[
        Literal["tuner", "off"], BeforeValidator(_word), WithJsonSchema({"enum": ["tuner", "off", False]}), Tag("word")
    ]
    | Annotated[OwnRed, Tag("block")],
    Discriminator(_is_block),
]


class QueueSettings(Part):
    """The queues that classes use, by number; every port has them."""

    schedule: Literal["dwrr", "strict"] = Field(
        default="dwrr",
        description="`strict` queues go first, of several the one with the higher number; `dwrr` queues share what is "
        "left by weight, in bytes.",
    )
    weight: Count = Field(default=1, description="With `dwrr`: its share among the queues that wait.")
    red: Red = Field(
        default="tuner",
        description="Which packets are marked: by what the `tuner` sets, none (`off`), or by a block of its own with "
        "`kmin`, `kmax`, `pmax`.",
    )
    wred: OnOff = Field(
        default=False,
        description="`on`: a packet without ECT is dropped where another one would be marked; `off`: only when the "
        "queue is full.",
    )
    alpha: Alpha | None = Field(
        default=None, description="With `pool`: the queue may hold this many times what is free of the pool."
    )
    static: Bytes | None = Field(default=None, description="With `pool`: bytes that it may hold, instead of `alpha`.")
    reserved: Bytes = Field(default=0.0, description="With `pool`: bytes of its own, beside it.")

    @model_validator(mode="after")
    def _belongs(self) -> Self:
        if self.schedule == "strict" and self.weight != 1:
            refuse("weight", "is of 'dwrr'; a 'strict' queue has none")
        if self.alpha is not None and self.static is not None:
            refuse("static", "contradicts alpha; say one of them")
        if self.wred and self.red == "off":
            refuse("wred", "drops where others are marked, but with red 'off' none is; say 'off', or give it RED")
        return self
