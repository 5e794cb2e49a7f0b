"""What `testbed check` asks a path chooser: short runs on the virtual engine, and every entropy that it chose in them.

Two leaves and four spines, all links 25 Gbit/s. The four hosts of each leaf send to one each at the other, at nine
tenths of their lines whatever comes back: what one uplink is given too much of, another one could carry.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import numpy as np

from testbed.base.arrays import Ints
from testbed.compiled import machine
from testbed.controller import CompiledController, Path
from testbed.experiment.model import Experiment
from testbed.live.snapshots import Follower
from testbed.plugin import PluginConfig
from testbed.registry import Plugin
from testbed.sdk.conformance.answer import Answer, percent, repeated
from testbed.sdk.conformance.listened import Listened

RTT = 14e-6  # s; base RTT, about
LINE, LOAD = 25e9, 0.9
LEAF, SPINES = 4, 4  # hosts of a leaf
TIMEOUT = 20 * RTT
CUT = "leaf1-spine1"
SEND = 1  # CHOOSE_SEND of paths.h


class Steady(CompiledController):
    """Sends at nine tenths of the line rate, whatever comes back."""

    name = "steady"

    def __init__(self, config: PluginConfig, path: Path) -> None:
        super().__init__(config, path)
        self.rate = LOAD * path.line_rate


class Trial(Listened):
    """One run of a path chooser."""

    def __init__(self, plugin: Plugin, config: PluginConfig, experiment: Experiment, follower: Follower) -> None:
        """Runs it to its end. Raises PluginFailed, and BadInput if it cannot be compiled."""
        super().__init__(experiment, Steady, follower, chooser=plugin, chooser_config=config)

    @property
    def entropies(self) -> list[tuple[int, int]]:
        """Flow and entropy of each packet."""
        sent = (one for one in self.heard.calls if one[1] == SEND)
        return [(flow, int.from_bytes(decided, sys.byteorder)) for flow, *_, decided in sent]

    def acknowledged(self, start: float, end: float) -> float:
        """What came back, as a share of what was to be sent between two times."""
        series = self.record.flow_series
        first, last = np.searchsorted(series.time, [start, end])
        acked = float((series.wire_bytes[last] - series.wire_bytes[first]).sum())
        return 8 * acked / float(series.time[last] - series.time[first]) / (LOAD * LINE * 2 * LEAF)

    def lost(self) -> Ints:
        """Packets lost, per flow."""
        return np.asarray(self.record.flows.lost_packets)


Run = Callable[[Experiment], Trial]  # with the chooser in question


def experiment(rtts: float, *, down: tuple[float, float] | None = None, compiled: bool = True) -> Experiment:
    """An uplink is down from the first of these RTTs to the second, which no switch detects."""
    times = zip(down or (), ("down", "up"), strict=False)
    events = [{"at": _s(at * RTT), what: CUT, "detected_after": "1 s"} for at, what in times]
    link = {"rate": f"{LINE} bit/s", "delay": "1 us"}
    return Experiment.model_validate({
        "name": "check",
        "rack": {
            "kind": "leaf-spine", "leaves": 2, "spines": SPINES, "hosts_per_leaf": LEAF, "link": link, "uplink": link,
        },
        "traffic": {"pattern": "permutation", "hosts": 2 * LEAF, "stride": LEAF, "payload": "4096 B"},
        "controller": Steady.name,
        "routing": {"name": "checked", "compiled": compiled},
        "time": {"duration": _s(rtts * RTT), "warmup": 0},
        "transport": {"timeout": _s(TIMEOUT)},
        "record": {"interval": _s(RTT)},
        "events": events,
    })  # fmt: skip


def _s(seconds: float) -> str:
    return f"{seconds!r} s"


def chooser_questions(
    plugin: Plugin, config: PluginConfig, follower: Follower, compiles: str
) -> list[tuple[str, Callable[[], Answer]]]:
    """Name and question; ``compiles`` is the name of the first."""
    run = partial(Trial, plugin, config, follower=follower)
    asked: dict[str, Callable[[Run], Answer]] = {
        "every packet has a valid entropy": _valid,
        "same seed, same entropies": _repeats,
        "uses the paths there are": _spreads,
        "survives a path that fails": _survives,
    }
    first: dict[str, Callable[[Run], Answer]] = {compiles: _compiles} if plugin.form.compiled else {}
    return [(name, partial(question, run)) for name, question in (first | asked).items()]


def _compiles(run: Run) -> Answer:
    """What a user debugs as Python must be what chooses in a run; a path fails, so that every callback is called."""
    if missing := machine.why_not():
        return None, f"Python chooses in every run on this machine: {missing}"
    one, two = (run(experiment(60, down=(15, 40), compiled=compiled)).heard for compiled in (True, False))
    calls = f"{len(one.calls)} calls chose"
    if one.calls == two.calls:
        return True, f"{calls} the same, packet by packet (digest {one.digest})"
    return False, f"entropies differ: digests {one.digest} compiled and {two.digest} in Python"


def _valid(run: Run) -> Answer:
    entropies = run(experiment(20)).entropies
    most = max(len({chosen for flow, chosen in entropies if flow == one}) for one in range(2 * LEAF))
    return True, f"{len(entropies)} packets of {2 * LEAF} flows had entropies from 0 to 16383, up to {most} in a flow"


def _repeats(run: Run) -> Answer:
    one, two = (run(experiment(40, down=(15, 30))).heard.digest for _ in range(2))
    return repeated("entropies", one, two)


def _spreads(run: Run) -> Answer:
    came = run(experiment(120)).acknowledged(60 * RTT, 119 * RTT)
    return came >= 0.95, (
        f"{LEAF} flows over {SPINES} uplinks, at {percent(LOAD)} of what these carry: {percent(came)} of it came "
        "back in RTTs 60 to 119; at least 95 % is expected"
    )


def _survives(run: Run) -> Answer:
    trial = run(experiment(160, down=(20, 80)))
    while_down, after = trial.acknowledged(60 * RTT, 80 * RTT), trial.acknowledged(130 * RTT, 159 * RTT)
    return after >= 0.75, (  # who stays away from that uplink has 83 %
        f"one of {SPINES} uplinks of a leaf was cut for 60 RTTs, which nobody told: {percent(while_down)} of what "
        f"flows wanted came back in the last 20 of them, {percent(after)} in RTTs 130 to 159, long after its return; "
        "at least 75 % is expected"
    )
