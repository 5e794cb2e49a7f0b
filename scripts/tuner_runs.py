"""What tuners do to mice and elephants: the runs behind "what there is to adapt to" in docs/findings/pet.md.

    .venv/bin/python scripts/tuner_runs.py FOLDER [--seeds 11-15] [--cells websearch-30,...] [--rows SECN1,...]

Every run is 100 ms on the virtual engine, 16 hosts with 25 Gbit/s at one switch, DCQCN with a window of one BDP; a seed
gives all rows of a cell the same arrivals. FOLDER gets a file per run; those that are there already are not run again.
`tuner_oracle.py` makes figures of them. With `--dilation` they are of the kernel's rack (as root), for `tuner_rack.py`.
"""

from __future__ import annotations

import argparse
import io
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from testbed_plugins.pet.cell import INCASTS, QUIET

from testbed.base.arrays import Floats
from testbed.base.atomic import atomic_write
from testbed.fidelity.verdict import judge
from testbed.live.observers import Observer
from testbed.plugin import PluginConfig
from testbed.results.figures.fct import ideal_fct, slowdowns
from testbed.runs.carrier import carrier
from testbed.runs.overrides import resolve
from testbed.tuner import Need, Ports, PortSample, Thresholds, Tuner

DURATION = 0.1  # s
LENGTH = f"time.duration={DURATION} s"
WORKLOADS, LOADS = ("websearch", "datamining"), (30, 50, 70, 90)
COMMON = [*QUIET, "controller.window=bdp", "rack.hosts=16", "time.warmup=0"]
CELLS = [f"{workload}-{load}{more}" for more in ("", "-incast") for workload in WORKLOADS for load in LOADS]

Action = tuple[float, float, float]  # Kmin, Kmax in kB, Pmax in %
USUAL = (40, 160, 100)
SCHEDULE = ", else "  # in a row that has the steps of the tuner `schedule`
CONSTANTS = ["20/40/100", "20/160/50", "20/320/50", "40/160/100", "20/160/25",
             "40/320/100", "20/640/50", "80/160/100", "20/1280/25"]  # fmt: skip
PUBLISHED = {
    "SECN1": ["tuner.preset=secn1"],
    "SECN2": ["tuner.preset=secn2"],
    "ACC": ["tuner=acc"],
    "fct": ["tuner=pet", "tuner.preset=fct"],
}


def tuner(row: str) -> list[str]:
    """What settings say of it: a published tuner, a schedule, or the static one with Kmin/Kmax/Pmax."""
    if row in PUBLISHED:
        return PUBLISHED[row]
    if SCHEDULE in row:
        return ["tuner=schedule", f"tuner.steps={row}"]
    kmin, kmax, pmax = row.split("/")
    return [f"tuner.kmin={kmin} kB", f"tuner.kmax={kmax} kB", f"tuner.pmax={pmax} %"]


class ByIncasts(Tuner):
    """Other thresholds where an incast is seen, or was within the last ``memory`` slots: ``senders`` or more, and if
    ``of_mice`` counting only the share of them that the share of mice in the flows is.
    """

    name = "by-incasts"
    needs = Need.FLOWS
    senders: float
    of_mice: bool
    memory = 3
    usual: Action
    incast: Action = (1280, 2560, 5)  # next to never a mark
    rest = 0  # slots like that after one with marks of two senders or more: DCQCN's first CNP halves a flow

    def __init__(self, config: PluginConfig, ports: Ports) -> None:
        super().__init__(config, ports)
        self.slot = 10 * ports.base_rtt
        self.recent: deque[Floats] = deque(maxlen=self.memory)
        self.resting = np.zeros(len(ports), np.int64)  # slots to go

    def initial(self) -> Thresholds:
        return self._thresholds(np.zeros(len(self.ports), bool))

    def on_slot(self, now: float, sample: PortSample) -> Thresholds:  # noqa: ARG002 - part of the interface
        degree = np.nan_to_num(sample.incast_degree)
        self.recent.append(degree * np.nan_to_num(sample.mice_share) if self.of_mice else degree)
        incast = np.max(self.recent, axis=0) >= self.senders
        begins = (self.resting == 0) & (sample.marked_rate > 0) & (degree >= 2) & ~incast
        self.resting = np.where(begins, self.rest, np.maximum(self.resting - 1, 0))
        return self._thresholds(incast | (self.resting > 0))

    def _thresholds(self, hardly: NDArray[np.bool_]) -> Thresholds:
        kmin, kmax, pmax = np.where(hardly[:, None], self.incast, self.usual).astype(float).T
        return Thresholds(kmin * 1e3, kmax * 1e3, pmax / 100)


RULES: dict[str, tuple[float, bool, Action]] = {
    "10 senders, else 40/160/100": (10, False, USUAL),
    "10 mice, else 40/160/100": (10, True, USUAL),
    "10 mice, else 20/320/50": (10, True, (20, 320, 50)),  # what `fct` begins with
    "10 mice, else 20/640/50": (10, True, (20, 640, 50)),
}
RESTING: dict[str, tuple[float, bool, Action, int]] = {
    f"10 mice, else 20/{kmax}/50, rests {rest}": (10, True, (20, kmax, 50), rest)
    for kmax in (160, 320)
    for rest in (4, 7, 10)
}
ROWS = [*PUBLISHED, *CONSTANTS, *RULES]


def run(cell: str, row: str, seed: int, file: Path, carried: Sequence[str]) -> None:
    """One run; its file has a row per flow: size, start, slowdown so far, finished, of an incast."""
    workload, load, *incast = cell.split("-")
    options = [*COMMON, f"traffic.load={load} %", f"seed={seed}", *(INCASTS if incast else []), *carried]
    rule = (RULES | RESTING).get(row)
    resolved = resolve(workload, {}, {}, options if rule else [*options, *tuner(row)])
    if rule:
        about = zip(("senders", "of_mice", "usual", "rest"), rule, strict=False)
        form = type("Rule", (ByIncasts,), dict(about))
        plugin = replace(resolved.tuner, form=form)
        resolved = replace(resolved, tuner=plugin, tuner_config=form.Config())
    engine, observer = carrier(resolved.experiment.engine), Observer()
    record = engine.follow(engine.prepare(resolved, observer), observer, [], file.stem, [])
    flows = record.flows
    finished = np.isfinite(flows.finished)
    under_way = np.where(finished, flows.finished, record.duration) - flows.start
    incasts = np.array([label == "incast" for label in resolved.layout.plan.label])
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        size=flows.size,
        start=flows.start.astype(np.float32),
        slowdown=slowdowns(under_way, ideal_fct(record)).astype(np.float32),
        finished=finished,
        incast=incasts,
        duration=record.duration,
        engine=engine.name,
        verdict="; ".join(f"{one.what}: {one.how_much}" for one in judge(record).reasons) or "clean",
    )
    atomic_write(file, stream.getvalue())


def named(cell: str, row: str, seed: int | str) -> str:
    """The file of a run."""
    return f"{cell},{row.replace('/', '_')},{seed}.npz"


def seeds(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def rows(text: str) -> list[str]:
    found, names = text.split(";"), [*PUBLISHED, *RULES, *RESTING]
    for row in found:
        if row not in names and SCHEDULE not in row and not re.fullmatch(r"\d+/\d+/\d+", row):
            allowed = ", ".join(names)
            raise argparse.ArgumentTypeError(
                f"no row {row!r}: Kmin/Kmax/Pmax in kB and %, steps of the tuner `schedule`, or one of {allowed}"
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=seeds, default=seeds("11-15"))
    parser.add_argument("--cells", type=lambda text: text.split(","), default=CELLS)
    parser.add_argument("--rows", type=rows, default=ROWS, help="names, or Kmin/Kmax/Pmax in kB and %%; separated by ;")
    parser.add_argument("--duration", type=float, default=DURATION, help="nominal s")
    parser.add_argument("--dilation", default="", help="in the kernel's rack, so many wall seconds for a nominal one")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    rack = ["engine=kernel", f"time.dilation={chosen.dilation}"] if chosen.dilation else []
    carried = [f"time.duration={chosen.duration} s", *rack]
    for seed in chosen.seeds:
        for cell in chosen.cells:
            for row in chosen.rows:
                file = chosen.folder / named(cell, row, seed)
                if not file.exists():
                    run(cell, row, seed, file, carried)
                    print(file.stem, flush=True)


if __name__ == "__main__":
    main()
