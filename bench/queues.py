"""What classes cost: a rack whose ports have several queues beside the same one with plain ports, in turns.

Plain ports run programs that are compiled without classes, so that they pay nothing for them. Here each host sends in
one of eight queues, which share by weight.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from statistics import median

from bench import command
from bench.measure import Row, spread
from bench.virtual import QUIET, cost

QUEUES, REPEATS = 8, 7
CONTROLLERS = (("fixed", ("controller.rate=1.5 %",)), ("dcqcn", ()), ("hpcc", ()))
MOST = 1.3
KERNEL_RUN = ("run", "incast-8", "--controller", "dcqcn", "--dilation", "500", "--set", "record.report=false")
LONG, SHORT = "16 ms", "4 ms"  # what is between them is apart from start-up


def in_classes(hosts: int) -> tuple[str, str]:
    """Settings: classes of all queues, and every eighth host in each."""
    classes = ", ".join(f"c{one}: {{dscp: {one}, queue: {one}}}" for one in range(QUEUES))
    senders = [[f"h{host}" for host in range(1, hosts + 1) if host % QUEUES == one] for one in range(QUEUES)]
    packets = ", ".join(f"{{of: {{hosts: [{', '.join(mine)}]}}, dscp: {one}}}" for one, mine in enumerate(senders))
    return f"rack.switch.classes={{{classes}}}", f"packets=[{packets}]"


def of_queues() -> Iterator[Row]:
    """On the virtual engine, and with root in the kernel."""
    for controller, options in CONTROLLERS:
        ratios = []
        for _ in range(REPEATS):
            plain, eight = (cost("incast-64", controller, (*QUIET, *options, *more)) for more in ((), in_classes(64)))
            ratios.append(plain.speed / eight.speed)
        yield _row(f"cost per packet, 64 to 1, {controller}: eight queues / plain ports, virtual engine", ratios)
    if os.geteuid() == 0:
        ratios = [_cpu(in_classes(8)) / _cpu(()) for _ in range(REPEATS)]
        yield _row("CPU, 8 to 1, dcqcn: eight queues / plain ports, kernel engine", ratios)


def _cpu(settings: tuple[str, ...]) -> float:
    """What a longer run takes more than a shorter one."""
    more = [word for one in settings for word in ("--set", one)]
    longer, shorter = (command.cost(*KERNEL_RUN, "--duration", length, *more).cpu for length in (LONG, SHORT))
    return longer - shorter


def _row(name: str, ratios: list[float]) -> Row:
    return Row(name, spread(ratios, ".2f"), f"<= {MOST}", median(ratios) <= MOST, values={"ratios": ratios})
