"""The closed loop: 64 hosts send to one, each packet is acknowledged, and Python decides.

At `FULL_SPEED` the wire is not the limit, so what is measured is how much two cores can do. There the emulation lags
behind and a run is `degraded`; the fastest run that is still `clean` is measured as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from bench import bare, command
from bench.measure import Row, spread

FULL_SPEED = 20.0  # dilation: 5 Gbit/s, 580,000 packets/s, more than two cores can do
CLEAN_DILATIONS = (300, 400, 500)  # fastest first
CLEAN_MILLISECONDS = 15.0  # nominal: long enough that 64 starts at once are a small part of it
SECONDS = 2.0  # wall, per run
REPEATS = 5
LEAST, AIM = 100_000, 200_000
HPCC_LEAST = 0.8
DCQCN = ("--controller", "dcqcn", "--set", "controller.preset=paper", "--set", "controller.window=bdp")
HPCC = ("--controller", "hpcc")


def of_closed_loop() -> Iterator[Row]:
    """DCQCN, HPCC, and the data plane with no controller, alternating."""
    dcqcn, hpcc, bound = [], [], []
    for _ in range(REPEATS):
        dcqcn.append(_run(FULL_SPEED, *DCQCN, *command.UNCALIBRATED))
        hpcc.append(_run(FULL_SPEED, *HPCC, *command.UNCALIBRATED))
        bound.append(bare.packets_per_second(FULL_SPEED, SECONDS, hops=0))
    ours, theirs = [_speed(one) for one in dcqcn], [_speed(one) for one in hpcc]
    yield Row(
        "closed loop, 64 to 1, DCQCN, packets/s", spread(ours), f">= {LEAST:,}, aim {AIM:,}", median(ours) >= LEAST,
        f"{'reaches' if median(ours) >= AIM else 'misses'} the aim; {_quality(dcqcn)}",
        {"packets_per_second": ours, "dilation": FULL_SPEED},
    )  # fmt: skip
    shares = [one / other for one, other in zip(ours, bound, strict=True)]
    yield Row(
        "the same / bare data plane with no controller", spread(shares, ".0%"),
        note=f"bare: {spread(bound)} packets/s", values={"bare": bound},
    )  # fmt: skip
    ratios = [one / other for one, other in zip(theirs, ours, strict=True)]
    yield Row(
        "closed loop, HPCC with INT on every packet / DCQCN", spread(ratios, ".0%"), f">= {HPCC_LEAST:.0%}",
        median(ratios) >= HPCC_LEAST, f"{spread(theirs)} packets/s; {_quality(hpcc)}", {"packets_per_second": theirs},
    )  # fmt: skip


def of_clean_loop() -> Iterator[Row]:
    """The highest speed at which nothing of the emulation distorts the result."""
    for name, arguments in (("DCQCN", DCQCN), ("HPCC", HPCC)):
        fastest, tried = "none", {}
        for dilation in CLEAN_DILATIONS:
            try:
                summary = _run(dilation, *arguments, milliseconds=CLEAN_MILLISECONDS)
            except command.CommandFailed as error:  # calibration has failed: the rack would not be as configured
                tried[str(dilation)] = str(error)
                continue
            tried[str(dilation)] = summary["verdict"]["word"]
            if summary["verdict"]["word"] == "clean":
                fastest = f"{_speed(summary):,.0f} at dilation {dilation}"
                break
        note = f"tried dilations {', '.join(tried)}"
        yield Row(f"fastest clean verdict, {name}, packets/s", fastest, note=note, values=tried)


def _run(dilation: float, *arguments: str, milliseconds: float = 0.0) -> dict[str, Any]:
    duration = f"{milliseconds or SECONDS / dilation * 1e3:g} ms"
    return command.run("incast-64", "--dilation", f"{dilation:g}", "--duration", duration, *arguments)


def _speed(summary: dict[str, Any]) -> float:
    return float(summary["packets_per_wall_second"])


def _quality(runs: list[dict[str, Any]]) -> str:
    """How far the loop lagged behind the wire."""
    lag = median(one["feedback_lag_p99"] / one["base_rtt"] for one in runs)
    clean = sum(one["verdict"]["word"] == "clean" for one in runs)
    return f"{clean} of {len(runs)} clean; feedback lag {lag:.1f} base RTTs (p99)"
