"""The closed loop: 64 hosts send to one, each packet is acknowledged, and a controller decides.

At `FULL_SPEED` the wire is not the limit, so what is measured is how much two cores can do. There the emulation lags
behind and a run is `degraded`; the fastest run that is still `clean` is measured as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from bench import bare, command
from bench.command import Tree
from bench.measure import Row, spread

FULL_SPEED = 20.0  # dilation: 5 Gbit/s, 580,000 packets/s, more than two cores can do
CLEAN_DILATIONS = (70, 100, 135, 180, 240, 300, 400, 500)  # fastest first: 160,000 to 22,000 packets/s
CLEAN_TRIES = 3
CLEAN_MILLISECONDS = 15.0  # nominal: long enough that 64 starts at once are a small part of it
SECONDS = 2.0  # wall, per run
REPEATS = 5
LEAST, AIM = 100_000, 200_000
HPCC_LEAST = 0.98
CLEAN_AIM = 150_000
DCQCN = ("--controller", "dcqcn", "--set", "controller.preset=paper", "--set", "controller.window=bdp")
HPCC = ("--controller", "hpcc")


def of_closed_loop(trees: Sequence[Tree]) -> Iterator[Row]:
    """DCQCN, HPCC, and the data plane with no controller, alternating."""
    dcqcn: dict[Tree, list[dict[str, Any]]] = {tree: [] for tree in trees}
    hpcc: dict[Tree, list[dict[str, Any]]] = {tree: [] for tree in trees}
    bound = []
    for _ in range(REPEATS):
        for tree in trees:
            dcqcn[tree].append(_run(tree, FULL_SPEED, *DCQCN, *command.UNCALIBRATED))
            hpcc[tree].append(_run(tree, FULL_SPEED, *HPCC, *command.UNCALIBRATED))
        bound.append(bare.packets_per_second(FULL_SPEED, SECONDS, hops=0))
    for tree in trees:
        yield from _closed_loop_rows(tree, dcqcn[tree], hpcc[tree], bound)


def _closed_loop_rows(
    tree: Tree, dcqcn: list[dict[str, Any]], hpcc: list[dict[str, Any]], bound: list[float]
) -> Iterator[Row]:
    ours, theirs = [_speed(one) for one in dcqcn], [_speed(one) for one in hpcc]
    yield Row(
        f"closed loop, 64 to 1, DCQCN, packets/s{tree.suffix}", spread(ours), f">= {LEAST:,}, aim {AIM:,}",
        median(ours) >= LEAST if tree.ours else None,
        f"{'reaches' if median(ours) >= AIM else 'misses'} the aim; {_quality(dcqcn)}",
        {"packets_per_second": ours, "dilation": FULL_SPEED},
    )  # fmt: skip
    shares = [one / other for one, other in zip(ours, bound, strict=True)]
    yield Row(
        f"the same / bare data plane with no controller{tree.suffix}", spread(shares, ".0%"),
        note=f"bare: {spread(bound)} packets/s", values={"bare": bound},
    )  # fmt: skip
    ratios = [one / other for one, other in zip(theirs, ours, strict=True)]
    yield Row(
        f"closed loop, HPCC with INT on every packet / DCQCN{tree.suffix}", spread(ratios, ".0%"),
        f">= {HPCC_LEAST:.0%}", median(ratios) >= HPCC_LEAST if tree.ours else None,
        f"{spread(theirs)} packets/s; {_quality(hpcc)}", {"packets_per_second": theirs},
    )  # fmt: skip


def of_clean_loop(trees: Sequence[Tree]) -> Iterator[Row]:
    """The highest speed at which nothing of the emulation distorts the result in one of a few tries."""
    for name, least, arguments in (("DCQCN", 80_000, DCQCN), ("HPCC", 60_000, HPCC)):
        tried: dict[Tree, dict[float, list[str]]] = {tree: {} for tree in trees}
        fastest: dict[Tree, tuple[float, float]] = {}  # packets/s, dilation
        for dilation in CLEAN_DILATIONS:
            for _ in range(CLEAN_TRIES):
                for tree in trees:
                    if tree in fastest:
                        continue
                    word, speed = _verdict(tree, dilation, *arguments)
                    tried[tree].setdefault(dilation, []).append(word)
                    if word == "clean":
                        fastest[tree] = speed, dilation
        for tree in trees:
            speed, at = fastest.get(tree, (0.0, 0.0))
            yield Row(
                f"fastest clean verdict, {name}, packets/s{tree.suffix}",
                f"{speed:,.0f} at dilation {at:g}" if at else "none", f">= {least:,}, aim {CLEAN_AIM:,}",
                speed >= least if tree.ours else None,
                f"{'reaches' if speed >= CLEAN_AIM else 'misses'} the aim; tries: "
                + ", ".join(f"{len(words)} at {dilation:g}" for dilation, words in tried[tree].items()),
                {str(dilation): words for dilation, words in tried[tree].items()},
            )  # fmt: skip


def _verdict(tree: Tree, dilation: float, *arguments: str) -> tuple[str, float]:
    """Its word and packets/s; if calibration has failed, since the rack would not be as configured, what it said."""
    try:
        summary = _run(tree, dilation, *arguments, milliseconds=CLEAN_MILLISECONDS)
    except command.CommandFailed as error:
        return str(error), 0.0
    return summary["verdict"]["word"], _speed(summary)


def _run(tree: Tree, dilation: float, *arguments: str, milliseconds: float = 0.0) -> dict[str, Any]:
    duration = f"{milliseconds or SECONDS / dilation * 1e3:g} ms"
    given = ("incast-64", "--dilation", f"{dilation:g}", "--duration", duration, *arguments)
    return command.run(*given, testbed=tree.testbed)


def _speed(summary: dict[str, Any]) -> float:
    return float(summary["packets_per_wall_second"])


def _quality(runs: list[dict[str, Any]]) -> str:
    """How far the loop lagged behind the wire."""
    lag = median(one["feedback_lag_p99"] / one["base_rtt"] for one in runs)
    clean = sum(one["verdict"]["word"] == "clean" for one in runs)
    return f"{clean} of {len(runs)} clean; feedback lag {lag:.1f} base RTTs (p99)"
