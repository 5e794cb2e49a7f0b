"""What `testbed check` asks a tuner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from testbed.plugin import PluginConfig
from testbed.sdk.conformance.answer import Answer
from testbed.tuner import Need, Ports, PortSample, Thresholds, Tuner, reported, wrong
from testbed.units import show_time

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


def _samples(thresholds: Thresholds, needs: Need) -> Iterator[PortSample]:
    """Slots of empty, full, and random queues, with and without flows. ``thresholds`` is read anew in every slot."""
    rng = np.random.default_rng(1)
    for slot in range(SLOTS):
        fill = (np.zeros(3), np.ones(3), rng.random(3))[min(slot % 10, 2)]
        queue, load = fill * PORTS.buffer, np.minimum(1, fill * 3)
        sample = replace(
            PortSample.idle(thresholds),
            queue=queue,
            mean_queue=queue * 0.8,
            tx_rate=load * PORTS.rate,
            marked_rate=load * PORTS.rate * (queue > thresholds.kmin),
            dropped=np.where(fill == 1, 1000, 0),
        )
        if Need.FLOWS in needs:
            mice = np.where(load > 0, rng.random(3), np.nan)
            sample = replace(sample, incast_degree=np.rint(load * 100), mice_share=mice)
        yield sample


def _initial(tuner: Tuner) -> Answer:
    first = tuner.initial()
    problem = wrong(first, PORTS)
    if problem:
        return False, problem
    if not tuner.slot > 0:
        return False, f"slot is {tuner.slot}; a time above 0 is expected, or inf for never"
    slot = "never again" if np.isinf(tuner.slot) else f"every {show_time(tuner.slot)}"
    return True, f"set at the start ({first.told(0)} at {PORTS.name[0]}), {slot}"


def _slots(tuner: Tuner) -> Answer:
    now, current = 0.0, replace(tuner.initial())
    changes = 0
    for sample in _samples(current, tuner.needs):
        now += min(tuner.slot, 1.0)
        chosen = tuner.on_slot(now, sample)
        reported(tuner)
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
    current = replace(tuner.initial())
    found = []
    for number, sample in enumerate(_samples(current, tuner.needs), 1):
        chosen = tuner.on_slot(number * min(tuner.slot, 1.0), sample)
        if chosen is not None:
            current.kmin, current.kmax, current.pmax = chosen.kmin, chosen.kmax, chosen.pmax
        found.append(np.array([current.kmin, current.kmax, current.pmax]))
    return found
