"""Which plugins an experiment uses: its controller, controllers of some of its flows, its tuner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from testbed.base.arrays import Floats, Ints
from testbed.experiment.block import HostName, Named, Part, refuse
from testbed.experiment.topology.dscp import USUAL, Dscp
from testbed.experiment.topology.ecn import Ecn
from testbed.experiment.traffic.plan import Plan
from testbed.units import Size, Time


class PluginChoice(Named):
    """A plugin, its preset, and any of its own options. A plain name will do: `controller: swift`."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    name: str = Field(description="Name of an installed plugin, or a path: `./my_cc.py` or `./my_cc.py:MyCC`.")
    preset: str | None = Field(
        default=None, description="Named set of options to begin with; by default the plugin's first."
    )

    @property
    def options(self) -> dict[str, Any]:
        """What was said beyond name and preset."""
        return dict(self.model_extra or {})


class ControllerChoice(PluginChoice):
    """Sender-side congestion control. A plain name will do: `controller: swift`."""

    compiled: bool = Field(
        default=True, description="Machine code decides, if it can be compiled; false: Python, to debug it."
    )
    isolate: bool = Field(
        default=False, description="A controller in C decides in [a process of its own](../howto/c.md#crashes)."
    )
    decision_cost: Annotated[Time, Field(ge=0)] = Field(
        default=0.0,
        description="Time of a decision on a NIC's core, which makes one after the other. Virtual and live engine, "
        "controllers per flow.",
    )


ECMP = "ecmp"
SWITCHED = (ECMP, "spray", "flowlet", "adaptive", "valiant")  # what switches do; senders do the rest


class RoutingChoice(PluginChoice):
    """Who chooses among paths of equal cost. A plain name will do: `routing: spray`.

    Who does it, and how: [many paths](racks.md#many-paths).
    """

    name: str = Field(
        default=ECMP,
        description="`ecmp`, `spray`, `flowlet`, `adaptive`, `valiant`, or a path chooser: its name or path, "
        "`./my_chooser.py`.",
    )
    compiled: bool = Field(
        default=True, description="Machine code chooses, if it can be compiled; false: Python, to debug it."
    )
    gap: Annotated[Time, Field(gt=0)] | None = Field(
        default=None,
        description="With `flowlet`: pause after which a flow may take another path; by default the longest base RTT.",
    )

    @property
    def by_sender(self) -> bool:
        """Whether a path chooser is named."""
        return self.name not in SWITCHED

    @property
    def many_paths(self) -> bool:
        """Whether packets of a flow may take several."""
        return self.name != ECMP

    @model_validator(mode="after")
    def _belongs(self) -> Self:
        if self.gap is not None and self.name != "flowlet":
            refuse("gap", f"is of 'flowlet'; '{self.name}' has none")
        said = {"preset": self.preset is not None, "compiled": not self.compiled, **dict.fromkeys(self.options, True)}
        if not self.by_sender and any(said.values()):
            refuse(next(key for key in said if said[key]), f"is of path choosers; '{self.name}' has no such option")
        return self


class ReceiverChoice(PluginChoice):
    """[Receiver-side credit control](credits.md); by default none."""

    compiled: bool = Field(
        default=True, description="Machine code decides, if it can be compiled; false: Python, to debug it."
    )


MOST_NAMED = 20


class FlowsOf(Part):
    """Which flows: of any of the hosts, labels or numbers."""

    hosts: list[HostName] = Field(default=[], description="Sending hosts.")
    labels: list[str] = Field(default=[], description="Labels that the traffic pattern gives, such as `long`.")
    flows: list[Annotated[int, Field(strict=True, ge=0)]] = Field(
        default=[], description="Numbers of flows, in the order of `flows.parquet`."
    )

    def rows(self, plan: Plan) -> Ints:
        """Numbers of the flows, ascending."""
        hosts = np.isin(np.array(plan.src, str), self.hosts)
        labels = np.isin(np.array(plan.label, str), self.labels)
        return np.flatnonzero(hosts | labels | np.isin(np.arange(len(plan)), self.flows))


class SharingController(ControllerChoice):
    """Controllers of some flows. Of several entries the first holds."""

    of: FlowsOf


def deciders(controllers: Sequence[SharingController], plan: Plan) -> Ints:
    """Who decides about each flow, shape (n,): i is ``controllers[i - 1]``, 0 is none of them."""
    decider = np.zeros(len(plan), np.int64)
    for number, one in reversed(list(enumerate(controllers, start=1))):
        decider[one.of.rows(plan)] = number
    return decider


class PacketsOf(Part):
    """Packets of some flows. Of several entries the first holds."""

    of: FlowsOf
    dscp: Dscp | None = Field(default=None, description="DSCP of their packets.")
    ecn: Ecn | None = Field(default=None, description="`off`: not ECN-capable; `ce`: marked by their senders.")
    messages: Annotated[Size, Field(gt=0)] | None = Field(
        default=None, description="Size of their messages, if it is not that of `transport.messages`."
    )


def with_packets(packets: Sequence[PacketsOf], plan: Plan) -> Plan:
    """The flows with what their packets' headers say. Where two entries name a flow, the first holds."""
    for one in reversed(packets):
        plan = plan.with_headers(one.dscp, one.ecn, one.of.rows(plan))
    return plan.with_headers(USUAL, "on")


def message_sizes(packets: Sequence[PacketsOf], plan: Plan, usual: float) -> Floats:
    """Bytes of each flow's messages, shape (n,)."""
    sizes = np.full(len(plan), usual)
    for one in reversed(packets):
        if one.messages is not None:
            sizes[one.of.rows(plan)] = one.messages
    return sizes


def check_packets(packets: Sequence[PacketsOf], plan: Plan) -> None:
    """Everything that they name must be there."""
    for number, one in enumerate(packets):
        _check_named(f"packets.{number}.of", one.of, plan)
        if not len(one.of.rows(plan)):
            refuse(f"packets.{number}.of", "names no flow; name hosts, labels or flows")
        if one.dscp is None and one.ecn is None and one.messages is None:
            refuse(f"packets.{number}", "says nothing of these flows; give dscp, ecn, or messages")


def check_controllers(controllers: Sequence[SharingController], plan: Plan) -> None:
    """Each must have flows of its own, and everything it names must be there."""
    decider = deciders(controllers, plan)
    for number, one in enumerate(controllers):
        _check_named(f"controllers.{number}.of", one.of, plan)
        if number + 1 not in decider:
            refuse(f"controllers.{number}.of", "no flow is left for it; name its hosts, labels or flows")


def _check_named(place: str, of: FlowsOf, plan: Plan) -> None:
    there = {"hosts": list(dict.fromkeys(plan.src)), "labels": sorted(set(plan.label)), "flows": range(len(plan))}
    for key, known in there.items():
        missing = [value for value in getattr(of, key) if value not in known]
        if missing:
            some = f"0 to {len(plan) - 1}" if key == "flows" else ", ".join(map(repr, known[:MOST_NAMED]))
            refuse(f"{place}.{key}", f"no flow has {missing[0]!r}; allowed: {some}")
