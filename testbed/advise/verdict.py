"""Whether to change anything. A change is advised only if the check, which the search never saw, is sure of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from testbed.advise.check import Checked
from testbed.advise.objective import share
from testbed.advise.search import History
from testbed.results.compare.median import Estimate

Word = Literal["change", "nothing", "impossible"]


@dataclass(frozen=True)
class Verdict:
    """What to do, and why; ``reasons`` are sentences."""

    word: Word
    reasons: tuple[str, ...]


def decide(history: History, checked: Checked, worth: float) -> Verdict:
    """Of a search and its check."""
    rescue = bool(checked.present.broken)
    if checked.advised is None:
        if rescue:
            return Verdict("impossible", (_excluded(history, checked),))
        return Verdict("nothing", ("no candidate that holds the constraints was better than what is there now",))
    reasons = [f"it breaks a constraint on traffic that the search never saw: {one}" for one in checked.advised.broken]
    if checked.advised.why:
        reasons.append(f"it cannot run: {checked.advised.why}")
    reasons += checked.against
    if not rescue:
        reasons += _too_little(checked, worth)
    reasons += _fragile(checked, worth)
    if reasons:
        return Verdict("impossible" if rescue else "nothing", tuple(reasons))
    held = tuple(f"it makes hold what does not hold now: {one}" for one in checked.present.broken)
    return Verdict("change", (*held, f"{_told(checked)} on traffic that the search never saw"))


def _excluded(history: History, checked: Checked) -> str:
    tried = len({one.standing.candidate for one in history.tried})
    return (
        f"none of {tried} candidates holds the constraints, and nor does the present configuration "
        f"({'; '.join(checked.present.broken)}): allow more change, or ask for less"
    )


def _too_little(checked: Checked, worth: float) -> list[str]:
    gain = checked.gain
    if not gain.has_interval:
        return ["its gain is not known in every draw of the check"]
    if gain.low <= 0:
        return [f"{_told(checked)} on traffic that the search never saw: that may be chance"]
    if share(gain.median) < worth:
        return [f"{_told(checked)}, less than the {100 * worth:g} % that make a change worth it"]
    return []


def _fragile(checked: Checked, worth: float) -> list[str]:
    return [
        f"with {one.condition.name} it is worse than what is there now ({one.condition.workload}: {span(one.gain)})"
        for one in checked.under
        if one.gain.has_interval and one.gain.high < 0 and share(one.gain.median) < -worth
    ]


def _told(checked: Checked) -> str:
    gain = checked.gain
    return (
        f"it gains {percent(gain.median)} (95 % interval {percent(gain.low)} to {percent(gain.high)}, "
        f"{gain.repeats} draws)"
    )


def percent(gain: float) -> str:
    """A gain for readers."""
    return signed(share(gain) if math.isfinite(gain) else math.nan)


def span(gain: Estimate) -> str:
    """A gain with its interval."""
    return f"{percent(gain.median)} ({percent(gain.low)} to {percent(gain.high)})"


def signed(ratio: float) -> str:
    """In percent, nothing as +0.0."""
    return f"{100 * ratio:+z.1f} %" if math.isfinite(ratio) else "not known"
