"""What holds now: the present value of each key, and which keys may be changed where nobody says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from testbed.advise.knob import Knob
from testbed.advise.workload import Workload
from testbed.errors import BadInput
from testbed.experiment.preflight import first_red
from testbed.experiment.resolved import Resolved
from testbed.experiment.topology.queues import OwnRed
from testbed.units import SIZE_UNITS, exactly, rounded, show_size

# Queues that are worth a mark, as time at line rate: from a few packets to more than any link in a rack has in flight.
KMIN, KMAX = (0.4e-6, 80e-6), (0.8e-6, 320e-6)
LEAST_PMAX = 0.01


def knobs(workloads: Sequence[Workload]) -> list[Knob]:
    """Kmin, Kmax and Pmax of every queue that the workloads use and that marks. Raises BadInput if none does."""
    found: dict[str, Knob] = {}
    for one in workloads:
        for place, most in _marking(one):
            for name, (least, longest) in {"kmin": KMIN, "kmax": KMAX}.items():
                key, low, high = f"{place}.{name}", least * one.rate / 8, min(longest * one.rate / 8, most)
                found.setdefault(key, Knob(key=key, kind="size", low=rounded(low, 2), high=rounded(high, 2)))
            found.setdefault(f"{place}.pmax", Knob(key=f"{place}.pmax", kind="ratio", low=LEAST_PMAX, high=1.0))
    if not found:
        raise BadInput(
            "no queue that the traffic uses marks packets, so there is nothing to change; say what may be changed with "
            "--change, or in which class the traffic is (--set traffic.dscp=3)"
        )
    return list(found.values())


def _marking(workload: Workload) -> list[tuple[str, float]]:
    """Where thresholds are said, with the most that a queue can hold there."""
    resolved = workload.present
    switch = resolved.experiment.rack.switch
    buffer = resolved.layout.shape.ports[resolved.layout.bottleneck].link.buffer
    most = switch.pool.size if switch.pool else buffer
    classes = switch.tables
    places = [f"rack.switch.queues.{one}.red" for one in workload.queues
              if classes and isinstance(classes.queues[one].red, OwnRed)]  # fmt: skip
    tuned = classes is None or any(classes.queues[one].red == "tuner" for one in workload.queues)
    if tuned and resolved.tuner.name == "static":
        places.append("tuner")
    return [(one, most) for one in places]


def value(resolved: Resolved, key: str) -> str:
    """What an experiment says for a key, as text; empty if it says nothing. Thresholds are those of the bottleneck."""
    place, _, last = key.rpartition(".")
    if place == "tuner" and last in {"kmin", "kmax", "pmax"}:
        red = next(iter(first_red(resolved).values()), None)
        if red is not None:
            return f"{red.pmax:g}" if last == "pmax" else exactly(getattr(red, last), SIZE_UNITS)
    found: Any = resolved.as_dict()
    for part in key.split("."):
        if isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        elif isinstance(found, dict):
            found = found.get(part, found.get(int(part)) if part.isdecimal() else None)
        else:
            return ""
    return "" if found is None else str(found)


def shown(knob: Knob, text: str) -> str:
    """For readers: sizes and shares in one form."""
    if knob.kind == "ratio" and (number := knob.number(text)) == number:
        return f"{100 * number:g} %"
    if knob.kind == "size" and (number := knob.number(text)) == number:
        return show_size(number)
    return text or "not said"
