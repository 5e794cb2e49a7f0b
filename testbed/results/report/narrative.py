"""A flow's timeline in words: what came, what was decided. A step is one call, or several that are summed up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from testbed.base.arrays import Ints
from testbed.results.report.callbacks import CHANGED, Calls
from testbed.results.trace import KINDS, SENT, START, TIMEOUT, TIMER
from testbed.units import RATE_UNITS, SIZE_UNITS, counted, rounded, show, show_size, show_time

MINUS = "\u2212"
DECISIONS = {"rate": RATE_UNITS, "window": SIZE_UNITS}
SUMS = ("lost_packets", "cnps", "ce_packets", "acked_packets", "sent_bytes")
RANGES = {"rtt": ("RTT", 1e6, "us"), "queue": ("queue", 1e-3, "kB"), "output": ("output", 100, "%")}


class Words:
    """The steps that begin at the calls ``begin``, described."""

    def __init__(self, calls: Calls, begin: Ints) -> None:
        last = np.append(begin[1:], len(calls)) - 1
        kinds = {"timeouts": TIMEOUT, "timers": TIMER, "starts": START, "sendings": SENT}
        sums = {name: calls[name] for name in SUMS} | {name: calls["kind"] == kind for name, kind in kinds.items()}
        ranges = {
            name: np.where(calls[name] > 0, calls[name], np.nan) if name == "rtt" else calls[name] for name in RANGES
        }
        found: dict[str, Any] = {name: np.add.reduceat(values.astype(np.int64), begin) for name, values in sums.items()}
        found |= {f"least_{name}": np.fmin.reduceat(values, begin) for name, values in ranges.items()}
        found |= {f"most_{name}": np.fmax.reduceat(values, begin) for name, values in ranges.items()}
        found |= {f"before_{name}": calls.before[name][begin] for name in (*DECISIONS, "timer")}
        found |= {f"after_{name}": calls[name][last] for name in (*DECISIONS, "timer")}
        found |= {"time": calls["time"][begin], "kind": calls["kind"][begin], "calls": last - begin + 1}
        self.calls = calls
        self.begin = begin
        self.arrays = found
        self._lists: dict[str, list[Any]] = {name: values.tolist() for name, values in found.items()}

    def __len__(self) -> int:
        return len(self.begin)

    def told(self, step: int) -> str:
        """What came, the strongest signal first."""
        of = {name: values[step] for name, values in self._lists.items()}
        words = [_count(of["timeouts"], "timeout"), f"{of['lost_packets']} lost" if of["lost_packets"] else ""]
        words.append(_count(of["cnps"], "CNP"))
        marked = f"{of['ce_packets']} with CE" if of["ce_packets"] else ""
        words.append(", ".join(filter(None, (_count(of["acked_packets"], "ACK"), marked))))
        words += [_range(of[f"least_{name}"], of[f"most_{name}"], *how) for name, how in RANGES.items()]
        words += [_count(of["timers"], "timer"), "flow starts" if of["starts"] else ""]
        words.append(f"{show_size(of['sent_bytes'])} sent" if of["sendings"] else "")
        return "; ".join(filter(None, words)) or KINDS[of["kind"]]

    def decided(self, step: int, timer: bool = True) -> str:
        """What is different afterwards."""
        words = []
        for name, units in DECISIONS.items():
            before, after = self._lists[f"before_{name}"][step], self._lists[f"after_{name}"][step]
            if math.isnan(before):
                words += [f"{name} {_shown(after, units)}"] if math.isfinite(after) else []
            elif before != after and not abs(after - before) <= CHANGED * before:
                words.append(f"{name} {_from_to(before, after, units)}")
        at = self._lists["after_timer"][step]
        if timer and self._lists["calls"][step] == 1 and math.isfinite(at) and at != self._lists["before_timer"][step]:
            words.append(f"next timer at {at * 1e3:.4f} ms")
        return "; ".join(words) or "nothing changed"

    def percent(self, step: int) -> str:
        """By how much the leading one of rate and window changed; empty if it did not, or nobody can say."""
        name = self.calls.leading
        before, after = self._lists[f"before_{name}"][step], self._lists[f"after_{name}"][step]
        known = math.isfinite(before) and math.isfinite(after) and before > 0
        return show_percent(after / before) if known and abs(after - before) > CHANGED * before else ""

    def quiet(self, step: int) -> str:
        """For how long nothing spoke against going faster; empty if this step did, or nothing ever had."""
        row = int(self.begin[step])
        bad = np.flatnonzero(self.calls.bad_news[: row + 1])
        if not len(bad) or bad[-1] == row:
            return ""
        return f"no CNP, CE or loss for {show_time(rounded(self.calls['time'][row] - self.calls['time'][bad[-1]]))}"


def show_percent(ratio: float) -> str:
    """A factor as a change in percent: 0.5 is -50 %."""
    value = abs(100 * (ratio - 1))
    text = f"{value:.2g}" if value < 10 else f"{value:,.0f}"
    return f"{MINUS if ratio < 1 else '+'}{text} %"


def _from_to(before: float, after: float, units: dict[str, float]) -> str:
    old, new = _shown(before, units), _shown(after, units)
    number, _, unit = old.partition(" ")
    return f"{number if unit and new.endswith(f' {unit}') else old} → {new}"


def _shown(value: float, units: dict[str, float]) -> str:
    return show(rounded(value), units) if math.isfinite(value) else "none"


def _range(low: float, high: float, name: str, factor: float, unit: str) -> str:
    if math.isnan(low):
        return ""
    shown = [f"{rounded(factor * value, 3):,g}" for value in (low, high)]
    return f"{name} {' to '.join(dict.fromkeys(shown))} {unit}"


def _count(number: int, noun: str) -> str:
    return counted(number, noun) if number else ""
