"""What `testbed check` asks a tuner."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from testbed.plugin import PluginConfig
from testbed.tuner import Ports, PortSample, Thresholds, Tuner
from testbed.units import show_size, show_time

Answer = tuple[bool | None, str]

PORTS = Ports(("leaf", "host", "spine"), np.array([25e9, 25e9, 100e9]), np.full(3, 9e6), 13e-6)
SLOTS = 50


def tuner_questions(form: type[Tuner], config: PluginConfig) -> list[tuple[str, Callable[[], Answer]]]:
    """Name and question."""

    def tuner() -> Tuner:
        return form(config, PORTS)

    return [
        ("initial thresholds are valid", lambda: _initial(tuner())),
        ("thresholds stay valid in every slot", lambda: _slots(tuner())),
        ("same slots, same decisions", lambda: _repeats(tuner(), tuner())),
    ]


def wrong(thresholds: object, ports: Ports) -> str:
    """What is wrong with thresholds for these ports, in one sentence; empty if nothing is."""
    if not isinstance(thresholds, Thresholds):
        return f"expected Thresholds, got {type(thresholds).__name__}"
    columns = {name: np.asarray(getattr(thresholds, name), float) for name in ("kmin", "kmax", "pmax")}
    for name, column in columns.items():
        if column.shape != (len(ports),):
            return f"{name} has shape {column.shape}; one value per port, ({len(ports)},), is expected"
    kmin, kmax, pmax = columns.values()
    # Written so that nan breaks every rule.
    rules = (
        ((kmin >= 0) & (kmin <= kmax), "0 <= Kmin <= Kmax"),
        (kmax <= ports.buffer, "Kmax <= buffer"),
        ((pmax >= 0) & (pmax <= 1), "0 <= Pmax <= 1"),
    )
    for kept, rule in rules:
        for port in np.flatnonzero(~kept):
            buffer = show_size(float(ports.buffer[port]))
            return (
                f"port {ports.name[port]} breaks {rule}: Kmin {kmin[port]:g} B, Kmax {kmax[port]:g} B, "
                f"Pmax {pmax[port]:g}, buffer {buffer}"
            )
    return ""


def _samples(thresholds: Thresholds) -> Iterator[PortSample]:
    """Slots of empty, full, and random queues. ``thresholds`` is read anew in every slot."""
    rng = np.random.default_rng(1)
    for slot in range(SLOTS):
        fill = (np.zeros(3), np.ones(3), rng.random(3))[min(slot % 10, 2)]
        queue, load = fill * PORTS.buffer, np.minimum(1, fill * 3)
        dropped = np.where(fill == 1, 1000, 0)
        marked = load * PORTS.rate * (queue > thresholds.kmin)
        yield PortSample(
            queue, queue * 0.8, load * PORTS.rate, marked, dropped, thresholds.kmin, thresholds.kmax, thresholds.pmax
        )


def _initial(tuner: Tuner) -> Answer:
    first = tuner.initial()
    problem = wrong(first, PORTS)
    if problem:
        return False, problem
    if not tuner.slot > 0:
        return False, f"slot is {tuner.slot}; a time above 0 is expected, or inf for never"
    slot = "never again" if np.isinf(tuner.slot) else f"every {show_time(tuner.slot)}"
    return True, f"set at the start ({_show(first)} at {PORTS.name[0]}), {slot}"


def _slots(tuner: Tuner) -> Answer:
    now, current = 0.0, _copy(tuner.initial())
    changes = 0
    for sample in _samples(current):
        now += min(tuner.slot, 1.0)
        chosen = tuner.on_slot(now, sample)
        if chosen is None:
            continue
        problem = wrong(chosen, PORTS)
        if problem:
            return False, f"after the slot that ended at {show_time(now)}: {problem}"
        changes += 1
        current.kmin, current.kmax, current.pmax = chosen.kmin, chosen.kmax, chosen.pmax
    return True, f"{changes} of {SLOTS} slots, with empty, full and random queues, set thresholds, all valid"


def _repeats(one: Tuner, two: Tuner) -> Answer:
    decided = [_decisions(one), _decisions(two)]
    same = all(np.array_equal(a, b) for a, b in zip(*decided, strict=True))
    return same, "the same slots gave the same thresholds twice" if same else "the same slots gave other thresholds"


def _decisions(tuner: Tuner) -> list[np.ndarray]:
    current = _copy(tuner.initial())
    found = []
    for number, sample in enumerate(_samples(current), 1):
        chosen = tuner.on_slot(number * min(tuner.slot, 1.0), sample)
        if chosen is not None:
            current.kmin, current.kmax, current.pmax = chosen.kmin, chosen.kmax, chosen.pmax
        found.append(np.array([current.kmin, current.kmax, current.pmax]))
    return found


def _copy(thresholds: Thresholds) -> Thresholds:
    return Thresholds(thresholds.kmin, thresholds.kmax, thresholds.pmax)


def _show(thresholds: Thresholds) -> str:
    kmin, kmax, pmax = thresholds.kmin[0], thresholds.kmax[0], thresholds.pmax[0]
    return f"Kmin {show_size(kmin)}, Kmax {show_size(kmax)}, Pmax {pmax:.3g}"
