"""The ns-3 fork of PowerTCP's authors and the virtual engine: docs/findings/tables/simulators-ns3.csv.

    PYTHONPATH=. .venv/bin/python scripts/ns3_fork.py SECONDS     # builds the fork, runs for so long, keeps; then go on
    PYTHONPATH=. .venv/bin/python scripts/ns3_fork.py             # the table, of what is kept

The fork is changed where its environment asks for it (ns3_edits.py). A run takes 1 to 10 s.
Kept: docs/findings/results/simulators-ns3.csv.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ns3_edits import COMMANDS, TREE
from testbed_plugins.learned.evaluation import interval
from tuner_oracle import FINDINGS, Line, filed, keep, kept

import testbed
from bench.peers_built import Peer
from testbed.advise.budget import in_time
from testbed.base.arrays import Floats
from testbed.runs.forked import each
from testbed.runs.overrides import from_user, overridden

FORK = Peer(
    "ns3-datacenter", "https://github.com/inet-tub/ns3-datacenter", "6ddb4a40f4db1c22f53bcf7d341f9da621d27816", (TREE,),
    (
        *COMMANDS,
        ("cmake", "-S", TREE, "-B", "simulator/b", "-DCMAKE_BUILD_TYPE=release", "-DNS3_EXAMPLES=ON",
         "-DNS3_WARNINGS=OFF", "-DNS3_ENABLED_MODULES=point-to-point;traffic-control;internet;applications"),
        ("cmake", "--build", "simulator/b", "-j2", "--target", "powertcp-evaluation-burst"),
    ),
    Path(TREE) / "build/examples/PowerTCP",
)  # fmt: skip
PROGRAM = "ns3.39-powertcp-evaluation-burst"
KEPT = FINDINGS / "results/simulators-ns3.csv"
HEAD = ("table", "row", "side", "figure", "seed", "value")
SEEDS, PROCESSES = range(1, 7), 2
RATE, BASE_RTT = 25e9, 5.28e-6  # bit/s; s, of WebSearch, as the fork reckons it
PAYLOAD, HEADERS, SHORT, LONG = 1000, 48, 10e3, 1e6  # bytes: the fork's, without INT; short and large flows
PORT = re.compile(r"ToR 0 Port (\d+) throughput \S+ txBytes (\d+) qlen (\d+) time (\S+)")


class Theirs(NamedTuple):
    """CC_MODE, what else is on the command line, in its file, and in its environment."""

    mode: int
    arguments: tuple[str, ...] = ()
    file: str = ""
    changed: tuple[str, ...] = ()


class Ours(NamedTuple):
    """A controller with settings."""

    controller: str
    settings: dict[str, Any]


class Figure(NamedTuple):
    """Of the receiver's port, from a moment to another one, in s: a field of `testbed.results.summary.Summary`."""

    window: tuple[float, float]
    field: str
    scale: float = 1e6


class Table(NamedTuple):
    """What both run; of WebSearch, which has no ``figures``, slowdowns count."""

    experiment: str
    settings: dict[str, Any]
    until: float  # s
    figures: dict[str, Figure]


FILES = "TOPOLOGY_FILE topology FLOW_FILE flows TRACE_FILE trace FCT_OUTPUT_FILE fct PFC_OUTPUT_FILE pfc BUFFER_SIZE 32"
ENDLESS = 1e12  # bytes
ENQUEUE, RULES, BOTH = ("AT_ENQUEUE",), ("RULES",), ("AT_ENQUEUE", "RULES")
HPCC, POWERTCP, THETA = Theirs(3), Theirs(3, ("--wien=1",)), Theirs(3, ("--wien=1", "--delayWien=1"))
DCQCN, TIMELY = Theirs(1, ("--windowCheck=0",)), Theirs(7, ("--windowCheck=0",))
STEEP = TIMELY._replace(file="RATE_HAI 250Mb/s", changed=RULES)
MARKS = " ".join(f"{name}_MAP 1 {RATE:.0f} {value}" for name, value in {"KMIN": 75, "KMAX": 75, "PMAX": 1}.items())
DCTCP = Theirs(8, file=f"{MARKS} DCTCP_RATE_AI 615Mb/s")
FIGURE_9 = DCQCN._replace(file="RATE_AI 5Mb/s RATE_HAI 50Mb/s RP_TIMER 300")
SECN2 = {"tuner.preset": "secn2"}
K_75 = {"tuner.kmin": "75 kB", "tuner.kmax": "75 kB", "tuner.pmax": "100 %"}


def here(controller: str, others: dict[str, Any] | None = None, **options: Any) -> Ours:
    """With options of the controller and ``others``."""
    return Ours(controller, {f"controller.{name}": value for name, value in options.items()} | (others or {}))


def timely(low: float, high: float) -> Ours:
    """Thresholds are RTTs of 50 and 500 us, less the base RTT, in base RTTs."""
    alike = {"preset": "original", "delta": "20 Mbit/s", "segment": 0, "min_rate": "100 Mbit/s"}
    return here("timely", low=low, high=high, **alike)


OUR_HPCC, OUR_POWERTCP = here("hpcc", flows=25), here("powertcp", preset="sim")
OUR_THETA = here("theta-powertcp", preset="sim")
OUR_DCQCN = here(
    "dcqcn", SECN2, preset="nic", window="none", g=1 / 256, initial_alpha=1, increase_timer="900 us",
    additive="50 Mbit/s", hyper="100 Mbit/s", min_rate="100 Mbit/s",
)  # fmt: skip


def joining(flows: int, size: str, delay: str) -> dict[str, Any]:
    """So many flows join a long one after 1 ms."""
    senders = {"traffic.short": flows, "traffic.senders": flows + 1, "traffic.short_size": size}
    return senders | {"traffic.interruptions": ["1 ms"], "traffic.payload": "1 kB", "rack.link.delay": delay}


SOON, LATER, KB = (0.8e-3, 3e-3), (2e-3, 4e-3), RATE / 8e3
TEN, JOIN, SEVEN, WEBSEARCH = "ten flows join a long one", "a short flow joins", "seven join", "WebSearch at 60 %"
TABLES = {
    TEN: Table(
        "long-short",
        joining(10, "10 MB", "6.9 us") | {"rack.switch.buffer": "30 MB"},
        LATER[1],
        {"longest queue, us": Figure(SOON, "ql_max"), "mean queue, us": Figure(SOON, "ql_mean")}
        | {"later mean queue, us": Figure(LATER, "ql_mean"), "later SU, %": Figure(LATER, "su", 1)},
    ),
    JOIN: Table(
        "long-short", joining(1, "1 MB", "1.16 us"), 2e-3, {"longest queue, kB": Figure((0.9e-3, 2e-3), "ql_max", KB)}
    ),
    SEVEN: Table(
        "long-short", joining(7, "300 kB", "1.16 us"), 4e-3, {"longest queue, kB": Figure((0.9e-3, 4e-3), "ql_max", KB)}
    ),
    WEBSEARCH: Table("websearch", {"traffic.payload": "1.311 kB", "rack.link.delay": "1.16 us"}, 25e-3, {}),
}
FIGURE: dict[str, tuple[Theirs | Ours, ...]] = {
    "HPCC": (HPCC._replace(file="RATE_AI 118Mb/s"), here("hpcc", flows=11)),
    "DCQCN": (FIGURE_9, here("dcqcn", SECN2, preset="nic", window="none")),
    "DCQCN, marks at enqueue": (FIGURE_9._replace(changed=ENQUEUE),),
}
ROWS: dict[str, dict[str, tuple[Theirs | Ours, ...]]] = {
    TEN: {
        "HPCC": (HPCC, OUR_HPCC),
        "PowerTCP": (POWERTCP, OUR_POWERTCP),
        "PowerTCP, INT at enqueue": (POWERTCP._replace(changed=ENQUEUE),),
        "theta-PowerTCP": (THETA, OUR_THETA),
        "TIMELY": (TIMELY, timely(0.76, 16.6)),
        "DCQCN": (DCQCN, OUR_DCQCN),
        "DCQCN, marks at enqueue": (DCQCN._replace(changed=ENQUEUE),),
        "DCQCN, marks at enqueue, rules": (DCQCN._replace(changed=BOTH),),
    },
    JOIN: FIGURE,
    SEVEN: FIGURE,
    WEBSEARCH: {
        "HPCC": (HPCC, OUR_HPCC),
        "HPCC, INT at enqueue": (HPCC._replace(changed=ENQUEUE),),
        "PowerTCP": (POWERTCP, OUR_POWERTCP),
        "PowerTCP, rules": (POWERTCP._replace(changed=RULES),),
        "theta-PowerTCP": (THETA, OUR_THETA),
        "theta-PowerTCP, rules": (THETA._replace(changed=RULES),),
        "TIMELY": (TIMELY, timely(8.3, 91.6)),
        "TIMELY, rules": (STEEP,),
        "DCQCN": (DCQCN, OUR_DCQCN),
        "DCQCN, marks at enqueue": (DCQCN._replace(changed=ENQUEUE),),
        "DCQCN, marks at enqueue, rules": (DCQCN._replace(changed=BOTH),),
        "DCTCP": (DCTCP, Ours("dctcp", K_75)),
        "DCTCP, ours with windows up to one BDP": (here("dctcp", K_75, max_window=13),),
    },
}


def theirs(table: Table, side: Theirs, seed: int) -> dict[str, float]:
    """One run of the fork, where hosts are numbered from 0 and the switch comes last."""
    loaded = from_user(table.experiment)
    asked = [f"{key}={value}" for key, value in table.settings.items()]
    plan = overridden(loaded, {"controller": "dcqcn"}, {"seed": str(seed)}, asked).layout.plan
    hosts = [[int(name[1:]) - 1 for name in names] for names in (plan.src, plan.dst)]
    flows = sorted(zip(plan.start, *hosts, np.minimum(plan.size, ENDLESS), strict=True))
    count, delay = max(map(max, hosts)) + 1, table.settings["rack.link.delay"].replace(" ", "")
    program = Path(FORK.program(PROGRAM))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        told = [f"{src} {dst} 3 {10_000 + i} {size:.0f} {start:.9f}" for i, (start, src, dst, size) in enumerate(flows)]
        (folder / "flows").write_text("\n".join([str(len(told)), *told, ""]))
        links = [f"{host} {count} {RATE:.0f} {delay} 0" for host in range(count)]
        (folder / "topology").write_text("\n".join([f"{count + 1} 1 1 {count}", str(count), *links, ""]))
        published = (program.parents[3] / "examples/PowerTCP/config-burst.txt").read_text()
        (folder / "conf").write_text(f"{published}\n{FILES} SIMULATOR_STOP_TIME {table.until} {side.file}\n")
        command = [program, "--conf=conf", f"--algorithm={side.mode}", "--wien=0", *side.arguments, f"--RngRun={seed}"]
        environment = dict.fromkeys(side.changed, "1") | ({"SAMPLE": "2e-7"} if table.figures else {})
        done = subprocess.run(
            command, cwd=folder, env=os.environ | environment, stdout=subprocess.PIPE, text=True, check=True
        )
        if not table.figures:
            return slowdowns(*np.loadtxt(folder / "fct", usecols=(4, 6, 7)).T)
    port = np.array([found[1:] for found in PORT.findall(done.stdout) if int(found[0]) == hosts[1][0]], float)
    return {name: in_window(port, one) * one.scale for name, one in table.figures.items()}


def in_window(port: Floats, figure: Figure) -> float:
    """Of bytes that were sent, bytes that wait, and when."""
    begin, end = figure.window
    sent, queue = port[(port[:, 2] > begin) & (port[:, 2] <= end), :2].T * 8 / RATE
    found = {"ql_max": queue.max(), "ql_mean": queue.mean(), "su": 100 * sent.sum() / (end - begin)}
    return float(found[figure.field])


def ours(table: Table, side: Ours, seed: int) -> dict[str, float]:
    """One run here for each window."""
    alike = {"record.report": False, "rack.link.rate": "25 Gbit/s"} | table.settings | side.settings
    found: dict[str, float] = {}
    for window in dict.fromkeys([one.window for one in table.figures.values()]) or [(0.0, table.until)]:
        times = {f"time.{name}": f"{moment} s" for name, moment in zip(("warmup", "duration"), window, strict=True)}
        with tempfile.TemporaryDirectory() as out:
            run = testbed.run(
                table.experiment,
                controller=side.controller,
                engine="virtual",
                seed=seed,
                out=out,
                settings=alike | times,
            )
            figures = {name: one for name, one in table.figures.items() if one.window == window}
            found |= {name: getattr(run.summary, one.field) * one.scale for name, one in figures.items()}
            if not figures:
                size, start, end = (run.flows[name].to_numpy() for name in ("size", "start", "finished"))
                alone = BASE_RTT + 8 * (size + np.ceil(size / PAYLOAD) * HEADERS) / RATE
                found = slowdowns(*np.array([size, end - start, alone])[:, np.isfinite(end)])
    return found


def slowdowns(size: Floats, took: Floats, alone: Floats) -> dict[str, float]:
    """Of the flows that were done."""
    slower = took / alone
    short = slower[size <= SHORT]
    found = {
        "short p50": np.median(short), "short p99": np.percentile(short, 99), "all, mean": slower.mean(),
        "above 1 MB, p50": np.median(slower[size > LONG]), "completed": len(size),
    }  # fmt: skip
    return {name: float(value) for name, value in found.items()}


def lines(table: str, row: str, side: Theirs | Ours, seed: int) -> list[Line]:
    """The figures of one run."""
    if isinstance(side, Ours):
        found, name = ours(TABLES[table], side, seed), "ours"
    else:
        found, name = theirs(TABLES[table], side, seed), "theirs"
    return [
        dict(zip(HEAD, (table, row, name, figure, str(seed), f"{value:.5g}"), strict=True))
        for figure, value in found.items()
    ]


def go_on(until: float) -> None:
    """What is kept is not run again."""
    done = {(line["table"], line["row"], line["side"], line["seed"]) for line in kept(KEPT)}
    works = [
        partial(lines, table, row, side, seed)
        for seed, (table, rows) in product(SEEDS, ROWS.items())
        for row, sides in rows.items()
        for side in sides
        if (table, row, type(side).__name__.lower(), str(seed)) not in done
    ]
    for made in each(in_time(works, until), PROCESSES):
        keep(KEPT, HEAD, made)
        print(*(" ".join(line.values()) for line in made), sep="\n", flush=True)


def main(arguments: Sequence[str]) -> None:
    """Go on, or the table."""
    if arguments:
        go_on(time.monotonic() + float(arguments[0]))
        return
    cells: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for line in kept(KEPT):
        key = (line["table"], line["row"], line["figure"])
        cells.setdefault(key, {}).setdefault(line["side"], []).append(float(line["value"]))
    told = [[*key, *(cell(cells[key].get(side, [])) for side in ("theirs", "ours"))] for key in cells]
    filed("simulators-ns3", ("table", "row", "figure", "theirs", "ours"), told)


def cell(values: list[float]) -> str:
    """Their mean with its 95 % interval."""
    if not values:
        return ""
    mean, half = interval(np.array(values))
    told = [f"{one:.0f}" if abs(one) >= 100 else f"{one:.3g}" for one in (mean, mean - half, mean + half)]
    return told[0] if len(set(told)) == 1 else f"{told[0]} ({told[1]}, {told[2]})"


if __name__ == "__main__":
    main(sys.argv[1:])
