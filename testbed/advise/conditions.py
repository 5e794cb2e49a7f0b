"""Under which other conditions a change must not hurt: a fifth more load and a fifth less, a link that has failed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from testbed.advise.evidence import Settings
from testbed.advise.workload import Workload
from testbed.experiment.resolved import Resolved
from testbed.units import RATIO_UNITS, SIZE_UNITS, parse

LOADS = {"a fifth less load": 0.8, "a fifth more load": 1.2}
FAILED = "a failed link"
# Keys of traffic: sizes where nothing has a load, and senders where flows are endless.
SCALED: dict[str, dict[str, float]] = {"load": RATIO_UNITS, "size": SIZE_UNITS, "senders": {}}


@dataclass(frozen=True)
class Condition:
    """Settings that make it; ``missing`` says why there are none."""

    name: str
    workload: str
    settings: Settings = ()
    missing: str = ""


def conditions(workload: Workload) -> list[Condition]:
    """All of a workload."""
    traffic = workload.loaded.document.data.get("traffic", {})
    found = [_loaded(name, factor, workload.name, traffic) for name, factor in LOADS.items()]
    return [*found, _failed(workload)]


def _loaded(name: str, factor: float, workload: str, traffic: Any) -> Condition:
    for key, units in SCALED.items():
        places = [*_places(traffic, key, "traffic")]
        if places:
            settings = tuple(f"{place}={_times(factor, value, units)}" for place, value in places)
            return Condition(name, workload, settings)
    return Condition(name, workload, missing="its traffic says neither load, size nor senders")


def _places(block: Any, key: str, path: str) -> Iterator[tuple[str, str]]:
    items = block.items() if isinstance(block, dict) else enumerate(block) if isinstance(block, list) else ()
    for name, value in items:
        if name == key:
            yield f"{path}.{name}", str(value)
        else:
            yield from _places(value, key, f"{path}.{name}")


def _times(factor: float, text: str, units: dict[str, float]) -> str:
    if not units:
        return f"{round(factor * int(text))}"
    value = factor * parse(text, units, "a quantity")
    return f"{100 * value:.6g} %" if "" in units else f"{round(value)} B"


def _failed(workload: Workload) -> Condition:
    link = _uplink(workload.present)
    if link is None:
        return Condition(FAILED, workload.name, missing="its rack has no link whose failure leaves another path")
    events = [*workload.loaded.document.data.get("events", []), {"at": "0 s", "down": link}]
    return Condition(FAILED, workload.name, (f"events={json.dumps(events)}",))


def _uplink(resolved: Resolved) -> str | None:
    """The first link between switches beside which its switch has another one."""
    switches = set(resolved.experiment.shape.switches)
    between = [port for port in resolved.experiment.shape.ports if port.peer.node in switches]
    for port in between:
        if sum(other.switch == port.switch for other in between) > 1:
            return f"{port.switch}-{port.peer.node}"
    return None
