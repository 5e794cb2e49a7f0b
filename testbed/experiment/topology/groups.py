"""Shared memory of a switch: its pool, the priority groups that packets come in by, and what ends a pause.

An engine that does not act on them refuses these keys (`testbed.experiment.meaningless`).
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from testbed.experiment.block import Part, refuse
from testbed.experiment.topology.queues import QUEUES, Alpha, Bytes, OnOff
from testbed.units import AutoOrSize, Size, Time

GroupNumber = Annotated[int, Field(ge=0, lt=QUEUES)]


class GroupSettings(Part):
    """Priority groups that classes use, by number, per port at which packets come in; instead of `pfc`."""

    pfc: OnOff = Field(
        default=False, description="`on`: lossless: above its threshold the peer is paused; `off`: it drops."
    )
    alpha: Alpha | None = Field(default=None, description="Its threshold is this many times what is free of the pool.")
    xoff: Bytes | None = Field(default=None, description="Its threshold in bytes, instead of `alpha`.")
    reserved: Bytes = Field(default=0.0, description="Bytes of its own, beside the pool.")
    xon: Bytes | None = Field(
        default=None, description="With `pfc`: bytes down to which it must fall before it resumes."
    )
    xon_offset: Bytes | None = Field(
        default=None,
        description="With `pfc`: it also resumes this many bytes below its threshold, whichever is higher.",
    )
    headroom: AutoOrSize = Field(
        default="auto", description="With `pfc`: room beyond the threshold, as in `rack.switch.pfc`."
    )

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        if self.alpha is not None and self.xoff is not None:
            refuse("xoff", "contradicts alpha; say one of them")
        for key, usual in (("xon", None), ("xon_offset", None), ("headroom", "auto")):
            if not self.pfc and getattr(self, key) != usual:
                refuse(key, "is of lossless groups; say pfc 'on', or leave it out")
        return self


class Pool(Part):
    """Memory that all ports share; by default each has its own."""

    size: Annotated[Size, Field(gt=0)] = Field(description="What queues and groups share.")
    headroom: Bytes = Field(default=0.0, description="Shared by the lossless groups; 0: each has its own `headroom`.")


class Watchdog(Part):
    """What ends a pause that does not end by itself."""

    action: Literal["drop", "forward"] = Field(default="drop", description="What becomes of the queue's packets.")
    detection: Annotated[Time, Field(gt=0)] = Field(description="How long a queue must have been paused.")
    restoration: Annotated[Time, Field(gt=0)] | None = Field(
        default=None, description="How long without a pause until it ends; by default as `detection`."
    )
