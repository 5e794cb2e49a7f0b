"""``python -m bench.grid``: is a rack as configured, over a grid of rates, delays, depths and dilations?

Builds a rack per cell, measures it with the code that calibrates every run (so up to four attempts, as there), and
prints the errors of rate, base RTT and buffer. Links beyond `REACH` of wall time, which this class of machine does not
carry (docs/findings/bench.md, goodput), are counted apart; within it no cell is left out, whatever its error.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from bench.measure import Row, table
from bench.racks import in_sandbox
from testbed.engines.kernel.choices import use_netem
from testbed.errors import TestbedError
from testbed.experiment.load import load, resolve
from testbed.experiment.resolved import Resolved
from testbed.units import show_rate, show_size, show_time

DILATIONS = (1000, 500, 200, 100)
RATES = (10e9, 25e9, 100e9)
DELAYS = (1e-6, 2e-6, 10e-6)
BUFFERS = (0.5e6, 5e6)
REACH = 250e6  # bit/s of wall time
MOST = 0.02  # of the configured value
KINDS = {"rate": "rate", "base RTT": "base RTT", "buffer": "buffer", "buffer as queued by the shaper": "shaper's queue"}


@dataclass(frozen=True)
class Cell:
    """One rack of the grid, in nominal units."""

    dilation: float
    rate: float
    delay: float
    buffer: float

    def __str__(self) -> str:
        return (
            f"{show_rate(self.rate)}, {show_time(self.delay)} per link, {show_size(self.buffer)}, "
            f"dilation {self.dilation:g}"
        )

    def resolved(self) -> Resolved:
        """Eight senders, as many as fill a buffer; thresholds in proportion to it."""
        settings = (
            f"rack.link.rate={show_rate(self.rate)}", f"rack.link.delay={show_time(self.delay)}",
            f"rack.switch.buffer={self.buffer:g} B", f"time.dilation={self.dilation:g}", "rack.calibrate='off'",
            f"tuner.kmin={0.1 * self.buffer:g} B", f"tuner.kmax={0.5 * self.buffer:g} B",
        )  # fmt: skip
        return resolve(load("incast-8").apply(settings))


def measure(cell: Cell) -> dict[str, float]:
    """The largest error per kind, relative to what was asked; kinds that were not measured are missing."""
    resolved = cell.resolved()
    return in_sandbox(partial(_inside, resolved, use_netem(resolved)))


def _inside(resolved: Resolved, netem: bool, _connection: Connection) -> dict[str, float]:
    from testbed.engines.kernel.calibration.calibration import measure
    from testbed.engines.kernel.emulation import Emulation

    run = Emulation(resolved, netem)
    run.build()
    errors: dict[str, float] = {}
    for one in measure(run.rack):
        if one.what in KINDS:
            kind = KINDS[one.what]
            errors[kind] = max(abs(one.measured / one.expected - 1), errors.get(kind, 0.0))
    return errors


def grid() -> Iterator[Cell]:
    """All cells."""
    for values in itertools.product(DILATIONS, RATES, DELAYS, BUFFERS):
        yield Cell(*values)


def rows(measured: dict[Cell, dict[str, float]]) -> Iterator[Row]:
    """p50, p99 and the largest error of every kind within `REACH`; then what a run would refuse, inside and beyond."""
    within = {cell: errors for cell, errors in measured.items() if cell.rate / cell.dilation <= REACH}
    for kind in KINDS.values():
        errors = [one[kind] for one in within.values() if kind in one]
        if not errors:
            yield Row(f"error of the {kind}", "not measured", passed=False)
            continue
        p50, p99, most = (float(np.quantile(errors, q)) for q in (0.5, 0.99, 1.0))
        text = f"p50 {p50:.2%}, p99 {p99:.2%}, max {most:.2%}"
        yield Row(f"error of the {kind}, {len(errors)} cells", text, f"<= {MOST:.0%}", most <= MOST)
    reach = f"{REACH / 1e6:.0f} Mbit/s of wall time"
    refused = {cell: errors for cell, errors in measured.items() if max(errors.values()) > MOST}
    inside = [cell for cell in refused if cell in within]
    yield Row(f"cells refused up to {reach}", f"{len(inside)} of {len(within)}", note="; ".join(map(str, inside)))
    beyond = [
        f"{cell}: {', '.join(f'{kind} {error:.1%}' for kind, error in errors.items() if error > MOST)}"
        for cell, errors in refused.items() if cell not in within
    ]  # fmt: skip
    yield Row(
        f"cells refused beyond {reach}", f"{len(beyond)} of {len(measured) - len(within)}", note="; ".join(beyond)
    )


def main() -> int:
    """Exit code 0 if all that was accepted is as asked."""
    parser = argparse.ArgumentParser(prog="python -m bench.grid", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all values there")
    chosen = parser.parse_args()
    if os.geteuid() != 0:
        print("bench.grid: needs root to build racks", file=sys.stderr)
        return 2
    measured: dict[Cell, dict[str, float]] = {}
    for cell in grid():
        try:
            measured[cell] = measure(cell)
        except TestbedError as error:
            print(f"{cell}: {error}", file=sys.stderr, flush=True)
            continue
        shown = ", ".join(f"{kind} {error:.2%}" for kind, error in measured[cell].items())
        print(f"{cell}: {shown}", file=sys.stderr, flush=True)
    found = list(rows(measured))
    print(table(found))
    if chosen.json:
        content = [asdict(cell) | {"errors": errors} for cell, errors in measured.items()]
        chosen.json.write_text(json.dumps(content, indent=2) + "\n")
    return int(len(measured) < len(list(grid())) or any(row.passed is False for row in found))


if __name__ == "__main__":
    sys.exit(main())
