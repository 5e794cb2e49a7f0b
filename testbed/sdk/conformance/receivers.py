"""What `testbed check` asks a credit controller: short runs on the virtual engine, and what it was told and decided.

A star of 25 Gbit/s, whose hosts send to one as fast as it lets them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from testbed.compiled import machine
from testbed.compiled.layout import ARRIVED
from testbed.controller import CompiledController
from testbed.experiment.model import Experiment
from testbed.live.snapshots import Follower
from testbed.plugin import PluginConfig
from testbed.registry import Plugin
from testbed.sdk.conformance.answer import Answer, percent, repeated
from testbed.sdk.conformance.listened import Listened

RTT = 10e-6  # s; base RTT, to a few percent
LINE = 25e9
BDP = RTT * LINE / 8
TIMEOUT = 20 * RTT


class Eager(CompiledController):
    """Sends all that it is granted."""

    name = "eager"


class Trial(Listened):
    """One run of a credit controller."""

    told = ARRIVED.itemsize

    def __init__(self, plugin: Plugin, config: PluginConfig, experiment: Experiment, follower: Follower) -> None:
        """Runs it to its end. Raises PluginFailed, and BadInput if it cannot be compiled."""
        super().__init__(experiment, Eager, follower, receiver=plugin, receiver_config=config)

    def load(self, start: float, end: float) -> float:
        """Of the receiver's port between two times, as a share of its rate."""
        series = self.record.port_series
        first, last = np.searchsorted(series.time, [start, end])
        sent = series.tx_bytes[last] - series.tx_bytes[first]
        return float(8 * sent[self.record.bottleneck] / (series.time[last] - series.time[first]) / LINE)

    def shares(self, start: float, end: float) -> float:
        """Jain's index of what came back between two times."""
        series = self.record.flow_series
        first, last = np.searchsorted(series.time, [start, end])
        came = (series.wire_bytes[last] - series.wire_bytes[first]).astype(float)
        return float(came.sum() ** 2 / max(len(came) * (came**2).sum(), 1e-9))

    def queue(self, start: float) -> float:
        """Bytes on average that waited for the receiver, from then on."""
        series = self.record.port_series
        return float(series.queue[np.searchsorted(series.time, start) :, self.record.bottleneck].mean())


Run = Callable[[Experiment], Trial]  # with the credit controller in question


def experiment(
    flows: int, rtts: float, *, loss: float = 0.0, size: str | None = None, compiled: bool = True
) -> Experiment:
    """So many hosts send to one; ``loss`` at every link."""
    return Experiment.model_validate({
        "name": "check",
        "rack": {"kind": "star", "hosts": flows + 1, "link": {"rate": "25 Gbit/s", "delay": "2.3 us", "loss": loss}},
        "traffic": {"pattern": "incast", "senders": flows, "size": size},
        "controller": Eager.name,
        "receiver": {"name": "checked", "compiled": compiled},
        "time": {"duration": f"{rtts * RTT!r} s", "warmup": 0},
        "transport": {"timeout": f"{TIMEOUT!r} s"},
        "record": {"interval": f"{RTT!r} s"},
    })  # fmt: skip


def receiver_questions(
    plugin: Plugin, config: PluginConfig, follower: Follower, compiles: str
) -> list[tuple[str, Callable[[], Answer]]]:
    """Name and question; ``compiles`` is the name of the first."""
    run = partial(Trial, plugin, config, follower=follower)

    @cache
    def first() -> Trial:
        """A run that two questions compare with another one of the same experiment."""
        return run(_disturbed())

    asked = {
        "same seed, same grants": partial(_repeats, run, first),
        "fills the line": partial(_fills, run),
        "leaves no queue": partial(_leaves_no_queue, run),
        "flows share": partial(_shares, run),
        "everything arrives in spite of losses": partial(_arrives, run),
    }
    return list(({compiles: partial(_compiles, run, first)} | asked if plugin.form.compiled else asked).items())


def _disturbed(*, compiled: bool = True) -> Experiment:
    return experiment(3, 60, loss=0.005, compiled=compiled)


def _compiles(run: Run, first: Callable[[], Trial]) -> Answer:
    """What a user debugs as Python must be what grants in a run."""
    if missing := machine.why_not():
        return None, f"Python grants in every run on this machine: {missing}"
    one, two = first().heard, run(_disturbed(compiled=False)).heard
    if one.calls == two.calls:
        return True, f"{len(one.calls)} calls decided the same, bit for bit (digest {one.digest})"
    return False, f"decisions differ: digests {one.digest} compiled and {two.digest} in Python"


def _repeats(run: Run, first: Callable[[], Trial]) -> Answer:
    return repeated("grants", first().heard.digest, run(_disturbed()).heard.digest)


def _fills(run: Run) -> Answer:
    used = [run(experiment(flows, 100)).load(50 * RTT, 99 * RTT) for flows in (1, 8)]
    one, eight = map(percent, used)
    return min(used) >= 0.9, (
        f"one flow used {one} of the receiver's line in RTTs 50 to 99, eight of them {eight}; at least 90 % is expected"
    )


def _leaves_no_queue(run: Run) -> Answer:
    queue = run(experiment(16, 150)).queue(50 * RTT)
    return queue <= BDP / 2, (
        f"16 flows to one host had {queue / BDP:.3f} bandwidth-delay products of queue from RTT 50 on; at most half "
        "of one is expected"
    )


def _shares(run: Run) -> Answer:
    jain = run(experiment(8, 200)).shares(100 * RTT, 199 * RTT)
    return (
        jain > 0.95,
        f"eight flows to one host: Jain's index is {jain:.3f} in RTTs 100 to 199; more than 0.95 is expected",
    )


def _arrives(run: Run) -> Answer:
    """Credits are lost as well, and the last packets of flows."""
    flows = run(experiment(8, 600, loss=0.01, size="200 kB")).record.flows
    done = int(np.isfinite(flows.finished).sum())
    return done == len(flows.finished), (
        f"{done} of {len(flows.finished)} flows of 200 kB were done after 600 RTTs, where each link loses 1 %: "
        f"{flows.lost_packets.sum()} packets were lost, and there were {flows.timeouts.sum()} timeouts"
    )
