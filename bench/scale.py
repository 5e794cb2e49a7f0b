"""How far the virtual engine goes: ``python -m bench.scale`` measures what docs/explanation/scale.md says.

Fat trees of 32 hosts per ToR at 100 Gbit/s, WebSearch at 30 % load in packets of 4 kB, DCQCN. Each row is a run in a
process of its own: how long it took to set up and to run (CPU), and the most memory that it had at once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

from bench.apart import apart
from bench.measure import Row, spread
from testbed.experiment.resolved import Resolved
from testbed.live.snapshots import Live
from testbed.runs.overrides import from_user, overridden

PER_TOR = 32
LOAD = 0.3
SIZES, PAYLOAD = "websearch", 4096
MB = 1e6
CUT = "traffic.largest=1 MB"
SHORTER, REPEATS = 5, 3  # of the bench's runs, beside those of the table
MOST_RATIO = {4096: 1.8}  # issue 44
LARGEST = (8192, 0.207, "rack={kind: clos, k: 32, link: {rate: 100 Gbit/s}}", "traffic.largest=100 kB")  # three tiers
LARGEST_FLOWS, MOST_MEMORY = 100_000, 2e9  # at least; bytes: issue 44
ROWS: tuple[tuple[int, float, tuple[str, ...]], ...] = (  # hosts, nominal ms: the same packets; then 100,000 flows
    (64, 40.0, ()),
    (256, 10.0, ()),
    (1024, 2.5, ()),
    (4096, 0.62, ()),
    (4096, 2.55, (CUT,)),
    (4096, 11.3, ()),
)
HEAD = (
    "hosts", "switches", "flows", "packets", "set up, s", "run, s", "end, s", "us per packet", "us per event",
    "packets/s", "a look, ms", "memory, MB",
)  # fmt: skip


@dataclass(frozen=True)
class Scale:
    """Of one run. Seconds are of CPU."""

    hosts: int
    switches: int
    flows: int
    packets: int  # delivered and acknowledged
    events: int  # arrivals of packets at nodes, and what else happened on lines
    setting_up: float
    running: float  # without looks
    ending: float  # until all is counted
    look: float  # what a live view costs each time, five times per second of wall time
    memory: int  # bytes, most at once

    def __str__(self) -> str:
        per = 1e6 * self.running
        cells = (
            f"{self.hosts:,}", f"{self.switches}", f"{self.flows:,}", f"{self.packets:,}", f"{self.setting_up:.1f}",
            f"{self.running:.1f}", f"{self.ending:.1f}", f"{per / self.packets:.2f}", f"{per / self.events:.3f}",
            f"{self.packets / self.running:,.0f}", f"{1e3 * self.look:.1f}", f"{self.memory / MB:,.0f}",
        )  # fmt: skip
        return f"| {' | '.join(cells)} |"


def experiment(hosts: int, milliseconds: float, *more: str) -> Resolved:
    """A rack of the table."""
    tors = hosts // PER_TOR
    rack = f"{{kind: fat-tree, tors: {tors}, hosts_per_tor: {PER_TOR}, cores: {PER_TOR}, link: {{rate: 100 Gbit/s}}}}"
    settings = (
        f"rack={rack}", f"traffic={{pattern: poisson, sizes: {SIZES}, load: {LOAD:.0%}, payload: {PAYLOAD} B}}",
        f"time.duration={milliseconds} ms", "record.interval=1 ms", "record.decisions=0", "engine=virtual", *more,
    )  # fmt: skip
    return overridden(from_user("websearch"), {}, {}, list(settings))


def measured(hosts: int, milliseconds: float, *more: str) -> Scale:
    """One run."""

    def work(connection: Connection) -> Scale:
        began = time.process_time()
        resolved = experiment(hosts, milliseconds, *more)
        from testbed.engines.virtual.run import VirtualRun

        run = VirtualRun(resolved, [], connection)
        ready = time.process_time()
        looks, going = timed(Live, "show"), timed(VirtualRun, "_go_on")
        record = run.follow()
        ended = time.process_time()
        packets, events = int(record.flows.acked_packets.sum()), int(run.world.c.events_done)
        shape = resolved.layout.shape
        return Scale(
            len(shape.hosts), len(shape.switches), len(resolved.layout.plan), packets, events, ready - began,
            sum(going) - sum(looks), ended - ready - sum(going), median(looks), most_memory(),
        )  # fmt: skip

    return apart(work)


def timed(form: type, name: str, clock: Callable[[], float] = time.process_time) -> list[float]:
    """Seconds of each call of this method from now on, in this process."""
    taken: list[float] = []
    method = getattr(form, name)

    def call(*arguments: object) -> object:
        began = clock()
        found = method(*arguments)
        taken.append(clock() - began)
        return found

    setattr(form, name, call)
    return taken


def most_memory() -> int:
    """Of this process, since it began: bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (told,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(told.split()[1]) * 1024


def of_scale() -> Iterator[Row]:
    """What an event costs in large racks, beside small ones that carry as many packets; in turns."""
    few = [(hosts, milliseconds / SHORTER) for hosts, milliseconds, more in ROWS if not more]
    turns = [[measured(*one) for one in few] for _ in range(REPEATS)]
    small, *larger = ([one[place] for one in turns] for place in range(len(few)))
    for these in larger:
        ratios = [one.running / one.events * that.events / that.running for one, that in zip(these, small, strict=True)]
        hosts = these[0].hosts
        most = MOST_RATIO.get(hosts)
        yield Row(
            f"cost per event, {hosts:,} hosts / {small[0].hosts}", spread(ratios, ".2f"),
            f"<= {most:g}" if most else "", median(ratios) <= most if most else None,
            f"{spread([1e9 * one.running / one.events for one in these])} ns; set up "
            f"{spread([one.setting_up for one in these], '.1f')} s, {max(one.memory for one in these) / MB:,.0f} MB",
            {"runs": [vars(one) for one in these]},
        )  # fmt: skip
    largest = measured(*LARGEST)
    assert largest.flows >= LARGEST_FLOWS
    yield Row(
        f"memory, {largest.hosts:,} hosts in three tiers", f"{largest.memory / MB:,.0f} MB",
        f"<= {MOST_MEMORY / MB:,.0f} MB", largest.memory <= MOST_MEMORY,
        f"{largest.flows:,} flows; {1e9 * largest.running / largest.events:.0f} ns per event", {"run": vars(largest)},
    )  # fmt: skip


def rows(most: float) -> Iterator[Scale]:
    """One after the other; ``most`` packets, in millions."""
    for hosts, milliseconds, more in ROWS:
        if hosts * milliseconds * LOAD * 100e9 / 8e3 / PAYLOAD < most * 1e6:
            yield measured(hosts, milliseconds, *more)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=float, default=1000.0, help="leave out runs of more packets, in millions")
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    for row in rows(parser.parse_args().most):
        print(row, flush=True)


if __name__ == "__main__":
    main()
