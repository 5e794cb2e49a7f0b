"""Path choosers by hand, and the same as machine code."""

from __future__ import annotations

import ctypes
import random
from collections import Counter

import numpy as np
import pytest

from plugins.choosers import CACHED, EntropiesConfig, Random, Reps, RepsConfig, RoundRobin
from testbed.chooser import ENTROPIES, PathChooser
from testbed.compiled.choosers import Choosers
from testbed.compiled.events import CHOOSER
from testbed.compiled.layout import ACK
from testbed.compiled.plain import DECIDE
from testbed.controller import Path, Paths
from testbed.registry import CHOOSER as KIND
from testbed.registry import available, find

RTT = 8e-6
PATH = Path(100e9, RTT, RTT, 3, 4096, 4174)  # a BDP of 24 packets
BDP = 24


def sent(chooser: PathChooser, packets: int, now: float = 0.0) -> list[int]:
    found = []
    for _ in range(packets):
        chooser.on_send(now)
        found.append(chooser.entropy)
    return found


def reps(explore: float = 0.0, **options: object) -> Reps:
    return Reps(RepsConfig(explore=explore, **options), PATH)  # type: ignore[arg-type]


def test_round_robin_takes_all_entropies_in_turn() -> None:
    chooser = RoundRobin(EntropiesConfig(entropies=8), PATH)
    chooser.on_start(0.0)
    entropies = sent(chooser, 80)
    assert Counter(entropies) == dict.fromkeys(range(8), 10)
    assert entropies[:8] == entropies[8:16]


def test_random_takes_all_entropies_alike() -> None:
    """Each of 16 has 1000 of 16,000 packets, with a standard deviation of 31."""
    counts = Counter(sent(Random(EntropiesConfig(entropies=16), PATH), 16_000))
    assert set(counts) == set(range(16))
    assert max(abs(count - 1000) for count in counts.values()) < 4 * 31


def test_reps_explores_for_a_bdp() -> None:
    chooser = reps(explore=1)
    chooser.on_ack(0.0, 77, False, RTT)
    assert len(set(sent(chooser, BDP))) > BDP / 2
    assert sent(chooser, 1) == [77]


def test_reps_reuses_what_came_back_unmarked_once_and_oldest_first() -> None:
    chooser = reps()
    for entropy, marked in ((11, False), (12, True), (13, False), (14, False)):
        chooser.on_ack(0.0, entropy, marked, RTT)
    assert sent(chooser, 3) == [11, 13, 14]
    assert not set(sent(chooser, 20)) <= {11, 12, 13, 14}  # it explores


def test_reps_remembers_the_newest_eight() -> None:
    chooser = reps()
    for entropy in range(20):
        chooser.on_ack(0.0, entropy, False, RTT)
    assert sent(chooser, CACHED) == list(range(20 - CACHED, 20))


def test_reps_does_not_explore_after_a_timeout() -> None:
    chooser = reps(freeze="100 us")
    for entropy in (1, 2, 3):
        chooser.on_ack(0.0, entropy, False, RTT)
    sent(chooser, 3)
    chooser.on_timeout(1e-3, 9)
    assert set(sent(chooser, 30, 1.05e-3)) == {1, 2, 3}
    assert not set(sent(chooser, 30, 1.11e-3)) <= {1, 2, 3}


def test_reps_has_nothing_to_freeze_at_the_start() -> None:
    chooser = reps()
    chooser.on_timeout(0.0, 9)
    assert len(set(sent(chooser, 30))) > 15


@pytest.mark.parametrize("name", ["random", "reps", "round-robin"])
def test_machine_code_and_python_choose_the_same(name: str) -> None:
    plugin = find(KIND, name)
    n = 3
    paths = Paths(np.full(n, 100e9), np.full(n, RTT), np.full(n, 3), 4096, 4174)
    both = [
        Choosers(plugin.form, plugin.configure(None, {}), paths, np.arange(n), seed=5, compiled=compiled)
        for compiled in (True, False)
    ]
    assert [one.runs_as for one in both] == ["machine code", "Python"]
    calls = [DECIDE(one.c.decide) for one in both]
    names, chance, ack = CHOOSER.names, random.Random(1), np.zeros(1, ACK)
    seen = set()
    for step in range(3000):
        flow = chance.randrange(n)
        event = names[0] if step < n else chance.choice((*names[1:], "on_send", "on_ack"))
        flow = step if step < n else flow
        entropy = chance.randrange(ENTROPIES)
        ack["ce_packets"], ack["rtt"] = chance.random() < 0.3, RTT
        raised = ctypes.c_void_p()
        for call, one in zip(calls, both, strict=True):
            record = one.c.flows + flow * one.c.size
            if event == "on_start" and not one.objects:
                one.records[flow] = one.initial[flow]
            told = (names.index(event), step * 1e-6, entropy, ack.ctypes.data)
            nothing = ctypes.c_void_p()
            assert call(ctypes.addressof(nothing), ctypes.addressof(raised), record, *told) == 0
        entropies = [one.records["entropy"].tolist() for one in both]
        assert entropies[0] == entropies[1]
        seen.add(entropies[0][flow])
    assert len(seen) > 500


def test_they_are_installed() -> None:
    assert {"random", "reps", "round-robin"} <= {one.name for one in available(KIND)}
