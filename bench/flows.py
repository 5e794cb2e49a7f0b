"""What many flows cost: 64 and 8,192 flows of the same 64 hosts ask for the same packets, more than two cores carry.

Wall time per packet is compared, at a speed where the machine and not the wire is the limit. The controller is `fixed`,
which sends one packet per flow and turn: with the windows of the others, 8,192 flows would mostly be dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from bench import command, memory
from bench.closed_loop import FULL_SPEED
from bench.measure import Row, spread

SENDERS = 64
FEW, MANY = 1, 128  # flows per sender
SECONDS = 3.0  # wall, per run
REPEATS = 3
SHARE = 0.9  # of the bottleneck's line
MOST = 1.5
MEMORY_BYTES = 2e9


def _of_time() -> Iterator[Row]:
    """Alternating."""
    few, many = [], []
    for _ in range(REPEATS):
        few.append(_speed(FEW))
        many.append(_speed(MANY))
    ratios = [one / other for one, other in zip(few, many, strict=True)]
    yield Row(
        f"wall time of {SENDERS * MANY:,} flows / {SENDERS * FEW} flows, at equal packets", spread(ratios, ".2f"),
        f"<= {MOST}", median(ratios) <= MOST, f"packets/s: {spread(many)} / {spread(few)}",
        {"few": few, "many": many, "dilation": FULL_SPEED},
    )  # fmt: skip


def of_flows() -> Iterator[Row]:
    """Wall time and memory."""
    yield from _of_time()
    most = memory.peak(
        "incast-64", "--set", f"traffic.flows_per_sender={MANY}", "--controller", "dcqcn", "--set",
        "controller.window=bdp", "--duration", "4 ms", *command.UNCALIBRATED,
    )  # fmt: skip
    yield Row(
        f"memory of the whole run, {SENDERS * MANY:,} flows", f"{most / 1e6:,.0f} MB",
        f"< {MEMORY_BYTES / 1e6:,.0f} MB", most < MEMORY_BYTES,
        "PSS of all processes, highest of all samples", {"bytes": most},
    )  # fmt: skip


def _speed(flows_per_sender: int) -> float:
    """Packets delivered and acknowledged per wall second."""
    summary = command.run(
        "incast-64", "--dilation", f"{FULL_SPEED:g}", "--duration", f"{SECONDS / FULL_SPEED * 1e3:g} ms",
        "--set", f"traffic.flows_per_sender={flows_per_sender}", "--controller", "fixed",
        "--set", f"controller.rate={100 * SHARE / SENDERS / flows_per_sender:g} %", "--set", "record.decisions=0",
        *command.UNCALIBRATED,
    )  # fmt: skip
    return float(summary["packets_per_wall_second"])
