#!/usr/bin/env python3
"""Make docs/gallery.md and its pictures: ``make gallery``, a minute or two on the virtual engine.

The same bits on every machine: what has not changed in the engine is not drawn differently.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/pictures/gallery"
PAGE = ROOT / "docs/gallery.md"
HEAD = """# Gallery

What a run looks like. The command below a picture makes it, in seconds and without root, and `testbed report` of its
folder draws the picture, in `plots/` (extra `plots`). The experiments are in `topologies/`.
"""


@dataclass(frozen=True)
class Shown:
    """One run, and which of its plots is shown. ``options`` are as they are typed."""

    experiment: str
    options: str
    plot: str
    title: str
    says: str

    @property
    def slug(self) -> str:
        return f"{self.experiment}-{self.plot}"

    @property
    def command(self) -> list[str]:
        return ["run", self.experiment, "--engine", "virtual", *self.options.split()]


SHOWN = (
    Shown("incast-8", "--controller dcqcn --duration 5ms", "queue", "An incast with DCQCN",
          "Marks above Kmin make CNPs, and CNPs cut rates until the queue is short."),
    Shown("incast-16", "--controller hpcc --duration 2ms", "queue", "An incast with HPCC",
          "INT tells each sender how full the link is: the queue of the first round trip drains and stays empty."),
    Shown("incast-64", "--controller dcqcn --duration 10ms", "throughput", "Sixty-four senders",
          "Bands over all flows: the rates spread out after the first cuts, and come together again."),
    Shown("incast-2", "--controller adpg --duration 2ms", "decided", "A learned policy",
          "ADPG's trees decide the rate of two flows; every step is a decision that can be looked up."),
    Shown("incast-4", "--controller swift --duration 3ms", "throughput", "Four windows",
          "Swift's windows grow below the target delay and are cut above it, until four flows have a quarter each."),
    Shown("long-short", "--controller hpcc", "throughput", "Short flows interrupt a long one",
          "The long flow gives way to fifteen short ones three times, and has the line again after each."),
    Shown("parking-lot", "--controller hpcc --duration 4ms", "throughput", "A parking lot",
          "One flow crosses three busy links, three cross one each."),
    Shown("two-speeds", "--controller dcqcn --duration 5ms", "throughput", "25 and 100 Gbit/s",
          "Four slow and four fast hosts send to one: who gets what the slow ones cannot use?"),
    Shown("rtt-mix", "--controller swift --duration 10ms", "fairness", "Round trips of 4 to 420 us",
          "Jain's index when the longest path is a hundred times the shortest: the short ones win."),
    Shown("dumbbell", "--controller timely --duration 10ms", "queue", "A gradient of the RTT",
          "TIMELY follows the slope of the RTT, and so does the queue between the two switches."),
    Shown("incast-64-lossless", "--duration 3ms", "queue", "A lossless fabric",
          "No packet is lost: the switch pauses the hosts. The verdict says for how long."),
    Shown("victim", "--duration 3ms", "throughput", "A victim of PFC",
          "A flow to a free host suffers, since pauses hold everybody who shares its way."),
    Shown("trimming", "--duration 4ms", "throughput", "Trimmed packets",
          "A port with room for 200 kB sends on the headers of the rest: receivers ask again at once."),
    Shown("slow-uplink", "--duration 3ms", "throughput", "An uplink at a tenth of its rate",
          "REPS keeps to paths that came back unmarked, and later to those that are left."),
    Shown("websearch", "--controller dcqcn --duration 10ms", "slowdown", "WebSearch at 60 %",
          "How much longer flows of each size take than alone."),
    Shown("link-failure", "", "queues", "A tenth of the links fail",
          "Flows are hashed anew onto what is left, and back when the links return."),
    Shown("allreduce-16", "", "ranks", "A ring allreduce",
          "What each of sixteen ranks sends and waits for, step by step."),
    Shown("two-jobs", "", "ranks", "Two trainings share two spines",
          "Each iteration computes, then reduces gradients; where both reduce at once, both wait."),
    Shown("alltoall-moe-32", "", "matrix", "A mixture of experts",
          "Who sends to whom: some experts get tokens far more often than others."),
    Shown("sonic-switch", "--duration 3ms", "class-rates", "Queues as config_db.json says",
          "A lossless and a lossy class at one port of a SONiC switch, with DWRR between them."),
)  # fmt: skip


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as made:
        for one in SHOWN:
            draw(one, Path(made) / one.slug, FOLDER)
    PAGE.write_text(page())


def draw(one: Shown, results: Path, folder: Path) -> None:
    """Run it; its picture is a file of ``folder`` then."""
    for command in ([*one.command, "--out", str(results), "--set", "record.report=false"], ["report", str(results)]):
        testbed = [sys.executable, "-m", "testbed", *command]
        done = subprocess.run(testbed, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):  # 3: the verdict says what the run suffered from
            sys.exit(done.stderr)
    shutil.copy(results / "plots" / f"{one.plot}.svg", folder / f"{one.slug}.svg")


def page() -> str:
    """The page of all pictures."""
    return "\n".join([HEAD, *map(_part, SHOWN)])


def _part(one: Shown) -> str:
    return f"""## {one.title}

{one.says}

![{one.plot}](pictures/gallery/{one.slug}.svg)

    testbed {" ".join(one.command)}
"""


if __name__ == "__main__":
    main()
