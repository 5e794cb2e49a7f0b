"""Who sends to whom: one module per pattern, each a block `traffic:` of the experiment file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from testbed.traffic.all_to_all import AllToAll
from testbed.traffic.composed import Mix, Phases
from testbed.traffic.incast import Incast
from testbed.traffic.listed import FlowList
from testbed.traffic.long_short import LongShort
from testbed.traffic.osu import OsuAllToAll
from testbed.traffic.poisson import Poisson
from testbed.traffic.tracefile import TraceFile

Traffic = Annotated[
    Incast | AllToAll | LongShort | OsuAllToAll | Poisson | Phases | Mix | TraceFile | FlowList,
    Field(discriminator="pattern"),
]
