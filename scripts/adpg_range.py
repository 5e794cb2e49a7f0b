"""One policy of ADPG for 25 to 800 Gbit/s and 2 to 500 us: docs/findings/tables/adpg-range.csv.

    .venv/bin/python scripts/adpg_range.py 100     # runs, keeps, for so many seconds; go on another time
    .venv/bin/python scripts/adpg_range.py         # the table, of what is kept

Kept: docs/findings/results/adpg-range.csv. On the virtual engine, but in the fluid model where a run had more than
300,000 packets.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np
from tuner_oracle import FINDINGS, filed, keep, kept

import testbed
from testbed.advise.budget import in_time
from testbed.runs.forked import each

KEPT = FINDINGS / "results/adpg-range.csv"
RUN = ("rate", "rtt", "flows", "reference", "seed")
FIGURES = ("engine", "su", "fr", "error", "lost", "ramp")  # %, %, % of the oracle, % after the warm-up, RTTs
RATES, RTTS = (25, 100, 800), (2, 8, 30, 100, 500)  # Gbit/s, us
FLOWS, SEEDS = (2, 64), range(1, 7)
REFERENCES = {"8.192 us": 8.192e-6, "0": 0.0}  # T_ref: the published constant, the network's longest base RTT
LASTS, WARMUP, PACKET, ACK = 1500, 750, 1078, 80  # base RTTs, of it; bytes
MOST_PACKETS, PROCESSES = 300_000, 2
LEAST_BUFFER, BDPS, HELD = 5e6, 4.0, 160e-6  # the most of: bytes, bandwidth-delay products, s of the line
BETA, TARGET = 1.5, 0.064


def settings(rate: float, rtt: float) -> tuple[str, dict[str, object]]:
    """Of a star whose paths have a base RTT (s), and the engine."""
    delay = (rtt - 2 * 8 * (PACKET + ACK) / rate) / 4
    engine = "virtual" if rate * LASTS * rtt / 8 / PACKET <= MOST_PACKETS else "fluid"
    return engine, {
        "rack.link.rate": f"{rate:g} bit/s",
        "rack.link.delay": f"{delay:g} s",
        "rack.switch.buffer": f"{max(LEAST_BUFFER, max(BDPS * rtt, HELD) * rate / 8):g} B",
        "time.duration": f"{LASTS * rtt:g} s",
        "time.warmup": f"{WARMUP * rtt:g} s",
        "record.report": False,
        "controller.start_rate": "1 %",
        **({"fluid.probes": 2} if engine == "fluid" else {}),
    }


def ran(rate: int, rtt: int, flows: int, reference: str, seed: int) -> list[str]:
    """The figures of an incast, or, of one flow, how many RTTs it takes to 95 % of the line under preset `ramp`."""
    engine, said = settings(rate * 1e9, rtt * 1e-6)
    said |= {"traffic.senders": flows, "controller.reference_rtt": reference}
    said |= {"controller.preset": "ramp"} if flows == 1 else {}
    with tempfile.TemporaryDirectory() as out:
        run = testbed.run("incast-2", controller="adpg", engine=engine, seed=seed, settings=said, out=out)
        one, series = run.summary, run.series.flows
    taken = ""
    if flows == 1:
        there = np.asarray(series["time"])[np.asarray(series["rate"]) >= 0.95e9 * rate]
        taken = f"{there.min() / one.base_rtt:.0f}" if len(there) else "never"
    oracle = (REFERENCES[reference] or one.base_rtt) * (BETA - 1 + TARGET * flows**0.5)
    lost = 100 * one.drop_rate / (one.drop_rate + one.su * 1e7 * rate)
    figures = (one.su, one.fr_flows, 100 * (one.ql_mean / oracle - 1), lost)
    return [engine, *(f"{figure:.2f}" for figure in figures), taken]


def lines(run: tuple[int, int, int, str, int]) -> list[dict[str, str]]:
    return [dict(zip((*RUN, *FIGURES), [*map(str, run), *ran(*run)], strict=True))]


def go_on(until: float) -> None:
    """What is kept is not run again."""
    done = {tuple(line[name] for name in RUN) for line in kept(KEPT)}
    forms = [(1, "0"), *product(FLOWS, REFERENCES)]
    asked = [(rate, rtt, *form, seed) for seed, rate, rtt, form in product(SEEDS, RATES, RTTS, forms)]
    works = [partial(lines, run) for run in asked if tuple(map(str, run)) not in done]
    for made in each(in_time(works, until), PROCESSES):
        keep(KEPT, (*RUN, *FIGURES), made)
        print(*made[0].values(), flush=True)


def main(arguments: Sequence[str]) -> None:
    """Go on, or print."""
    if arguments:
        go_on(time.monotonic() + float(arguments[0]))
        return
    cells: dict[tuple[str, str], list[dict[str, str]]] = {}
    for line in sorted(kept(KEPT), key=lambda one: (int(one["rate"]), int(one["rtt"]))):
        cells.setdefault((line["rate"], line["rtt"]), []).append(line)
    told = []
    for (rate, rtt), found in cells.items():
        forms = [[one for one in found if one["reference"] == name and one["flows"] != "1"] for name in REFERENCES]
        if all({one["flows"] for one in form} == set(map(str, FLOWS)) for form in forms):
            ramps = [float(one["ramp"]) for one in found if one["flows"] == "1"]
            seeds = str(min(len(ramps), *(len(form) // len(FLOWS) for form in forms)))
            worsts = (cell for form in forms for cell in worst(form))
            told.append([rate, rtt, found[0]["engine"], seeds, *worsts, f"{np.median(ramps):.0f}"])
    head = (f"T_ref {form}: {what}" for form in ("8.192 us", "base RTT") for what in ("SU", "FR", "QL off the oracle"))
    filed("adpg-range", ("Gbit/s", "base RTT, us", "engine", "seeds", *head, "ramp, RTTs"), told)


def worst(lines: list[dict[str, str]]) -> list[str]:
    """Least SU and FR, and between what the queue's error is, over all numbers of flows and seeds."""
    su, fr, error = (np.array([float(one[name]) for one in lines]) for name in ("su", "fr", "error"))
    lost = max(float(one["lost"]) for one in lines)
    away = f"{error.min():+.0f} to {error.max():+.0f} %" + (f", {lost:.2g} % lost" if lost >= 0.01 else "")
    return [f"{su.min():.1f}", f"{fr.min():.0f}", away]


if __name__ == "__main__":
    main(sys.argv[1:])
