"""What the virtual engine costs: packets delivered and acknowledged per second of the run's CPU, start-up apart.

A run is one process without waiting, so that on a quiet machine its CPU time is its wall time. What is compared takes
turns.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

from bench import command, memory
from bench.apart import apart
from bench.measure import Row, spread
from testbed.results import arrow
from testbed.runs.overrides import from_user, overridden

REPEATS = 5
SHORT = 9  # repeats of runs of a fifth of a second, which whatever else goes on moves
BATCH = str(Path(__file__).with_name("batch_hpcc.py"))
QUIET = ("record.interval=10 ms", "record.decisions=0")  # nothing is recorded but what every run counts
ENGINE = ("--engine", "virtual", "--metrics-addr", "none")
SPEEDS = (  # controller, options, wanted and aimed packets/s
    ("fixed", ("controller.rate=1.5 %",), 2.0e6, 3.0e6),
    ("dcqcn", (), 1.2e6, 2.0e6),
    ("swift", (), 1.2e6, 2.0e6),
    ("hpcc", (), 1.2e6, 2.0e6),
    (BATCH, ("time.duration=3 ms", "time.warmup=1 ms"), 30e3, 100e3),
)
RECORDING, RECORDING_AIM = 0.4, 0.2
START = ((("--set", "record.report=false"), 3.0, 2.0), ((), 8.0, 5.0))
LARGE = (
    "many-to-one-8192", "--controller", "hpcc", "--set", "rack.link.rate=400 Gbit/s", "--set",
    "rack.switch.buffer=20 MB", "--duration", "5 ms", "--set", "time.warmup=1 ms", "--set",
    "record.report=false", *ENGINE,
)  # fmt: skip
# Many flows that start together fill a queue: in a buffer for all of them, without marks, both runs do the same per
# packet; and starts, each of which is a turn of Python, are few beside packets.
CALM = (
    "rack.switch.buffer=20 MB", "tuner.kmin=16 MB", "tuner.kmax=16 MB", "time.duration=300 ms", "time.warmup=1 ms",
)  # fmt: skip
HOSTS_287 = ("traffic.senders=287", f"controller.rate={80 / 287} %", "time.duration=100 ms", "time.warmup=1 ms")
HOSTS_1022 = ("traffic.senders=1022", "time.duration=10 ms", "time.warmup=1 ms")
LARGE_SECONDS, LARGE_SECONDS_AIM, LARGE_BYTES, LARGE_BYTES_AIM = 60.0, 20.0, 2e9, 1e9


@dataclass(frozen=True)
class Cost:
    """Of one run."""

    packets: int  # delivered and acknowledged
    events: int  # arrivals of packets at nodes, and what else happened on lines
    seconds: float  # CPU

    @property
    def speed(self) -> float:
        return self.packets / self.seconds


def cost(experiment: str, controller: str, settings: Sequence[str]) -> Cost:
    """Of a run in a process of its own."""
    resolved = overridden(from_user(experiment), {"controller": controller, "tuner": ""}, {}, list(settings))

    def work(connection: Connection) -> Cost:
        from testbed.engines.virtual.run import VirtualRun

        arrow.load()  # start-up
        run = VirtualRun(resolved, [], connection)
        began = time.process_time()
        record = run.follow()
        seconds = time.process_time() - began
        return Cost(int(record.flows.acked_packets.sum()), int(run.world.c.events_done), seconds)

    return apart(work)


def _verdict(value: float, wanted: float, aim: float, *, most: bool) -> str:
    reached = value <= aim if most else value >= aim
    return f"{'reaches' if reached else 'misses'} the aim" if (value <= wanted) == most else ""


def _row(  # noqa: PLR0917 - a line of a table
    name: str, values: Sequence[float], wanted: float, aim: float, form: str, unit: str = "", note: str = ""
) -> Row:
    """What must not be more than is wanted."""
    middle = median(values)
    note = "; ".join(part for part in (_verdict(middle, wanted, aim, most=True), note) if part)
    return Row(
        name, spread(values, form) + unit, f"<= {format(wanted, form)}{unit}, aim {format(aim, form)}{unit}",
        middle <= wanted, note, {"values": list(values)},
    )  # fmt: skip


def of_virtual() -> Iterator[Row]:
    """All of it."""
    yield from _speeds()
    yield _recording()
    yield from _start()
    yield from _large()
    yield _ratio(
        "1022 hosts to 1, HPCC: cost per packet with PFC / without", 1.5, 1.1,
        ("incast-64", "hpcc", (*HOSTS_1022, "rack.switch.pfc.xoff=100 kB")), ("incast-64", "hpcc", HOSTS_1022),
    )  # fmt: skip
    yield _ratio(
        "cost per packet, 8192 flows / 64 flows of 64 hosts, fixed", 1.5, 1.2,
        ("incast-64", "fixed", ("traffic.flows_per_sender=128", f"controller.rate={80 / 8192} %", *CALM)),
        ("incast-64", "fixed", (f"controller.rate={80 / 64} %", *CALM)),
    )  # fmt: skip
    yield _ratio(
        "cost per packet and hop, 287 hosts to 1, 18 switches / 1", 1.2, 1.1,
        ("pet-288", "fixed", HOSTS_287),
        ("incast-64", "fixed", ("rack.link.rate=25 Gbit/s", *HOSTS_287)),
        per="events",
    )  # fmt: skip


def _speeds() -> Iterator[Row]:
    for controller, options, wanted, aim in SPEEDS:
        speeds = [cost("incast-64", controller, (*QUIET, *options)).speed for _ in range(SHORT)]
        name = "HPCC in batches, in Python" if controller == BATCH else controller
        yield Row(
            f"packets/s, 64 to 1, {name}", spread(speeds), f">= {wanted:,.0f}, aim {aim:,.0f}",
            median(speeds) >= wanted, _verdict(median(speeds), wanted, aim, most=False), {"speeds": speeds},
        )  # fmt: skip


def _recording() -> Row:
    """By the least of each: a host that takes idle memory back makes a run that needs 50 MB wait for it."""
    pairs = [[cost("incast-64", "hpcc", options).seconds for options in (QUIET, ())] for _ in range(SHORT)]
    without, usual = map(min, zip(*pairs, strict=True))
    note = f"pairs {spread([usual / without - 1 for without, usual in pairs], '.0%')}"
    name = "recording as usual, 64 to 1, HPCC, adds"
    return _row(name, [usual / without - 1], RECORDING, RECORDING_AIM, ".0%", note=note)


def _start() -> Iterator[Row]:
    for options, wanted, aim in START:
        word = "without" if options else "with"
        arguments = ("run", "incast-64", "--controller", "hpcc", "--duration", "30 ms", *ENGINE, *options)
        costs = [command.cost(*arguments) for _ in range(REPEATS)]
        yield _row(
            f"from the command to the results, 30 ms of 64 to 1, {word} the report", [one.wall for one in costs],
            wanted, aim, ".1f", " s", note=f"CPU {spread([one.cpu for one in costs], '.1f')} s",
        )  # fmt: skip


def _large() -> Iterator[Row]:
    began = time.perf_counter()
    most = memory.peak(*LARGE)
    took = time.perf_counter() - began
    yield _row("8192 to 1 at 400 Gbit/s, 5 ms, HPCC", [took], LARGE_SECONDS, LARGE_SECONDS_AIM, ".1f", " s")
    yield _row("its memory", [most / 1e6], LARGE_BYTES / 1e6, LARGE_BYTES_AIM / 1e6, ",.0f", " MB")


def _ratio(  # noqa: PLR0917
    name: str,
    wanted: float,
    aim: float,
    one: tuple[str, str, Sequence[str]],
    other: tuple[str, str, Sequence[str]],
    per: str = "packets",
) -> Row:
    """Alternating."""
    ratios = []
    for _ in range(REPEATS):
        these, those = (cost(*which[:2], (*QUIET, *which[2])) for which in (one, other))
        ratios.append(these.seconds / getattr(these, per) / (those.seconds / getattr(those, per)))
    return _row(name, ratios, wanted, aim, ".2f")
