"""Which options the variants differ in by number, and the series of variants along each: what can be a curve's axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from testbed.results.compare.effective import THRESHOLDS, effective
from testbed.results.compare.variants import PLUGINS, Settings, Variant, distinguish, telling
from testbed.results.report.plot import Axis
from testbed.units import RATE_UNITS, RATIO_UNITS, SIZE_UNITS, TIME_UNITS, parse, show

KINDS: dict[str, Mapping[str, float]] = {"": RATIO_UNITS, "B": SIZE_UNITS, "s": TIME_UNITS, "bit/s": RATE_UNITS}
LOG_FROM = 8  # largest / smallest value
PAD = 0.05  # of the axis, on both sides
NEAREST = 0.05  # of the axis: values that are closer have no room for a tick each


@dataclass(frozen=True)
class Series:
    """Variants that differ in the swept option alone, in ascending order of it.

    One in which the option is not there, or is a word such as ``none``, has no place on the axis: ``at`` is empty.
    """

    name: str
    variants: tuple[Variant, ...]
    at: tuple[float, ...]  # SI


@dataclass(frozen=True)
class Swept:
    """An option with at least two numbers."""

    key: str
    kind: str  # of `KINDS`
    series: tuple[Series, ...]

    @property
    def of_scenario(self) -> bool:
        """Whether rack, traffic or time differ, and not the contenders."""
        return self.key.partition(".")[0] not in PLUGINS

    @property
    def values(self) -> list[float]:
        """All of them, ascending."""
        return sorted({value for one in self.series for value in one.at})

    @property
    def scale(self) -> float:
        """From SI to the axis: the unit in which the smallest value reads best."""
        return 1 / self._unit[1]

    @property
    def _unit(self) -> tuple[str, float]:
        units = dict(KINDS[self.kind])
        smallest = min((value for value in map(abs, self.values) if value), default=0.0)
        name = show(smallest, units).partition(" ")[2] if self.kind else ""
        return name, units[name]

    @property
    def axis(self) -> Axis:
        """Logarithmic where the values reach over a decade or so; a tick at each value where there is room."""
        values = np.array(self.values) * self.scale
        log = bool(values[0] > 0 and values[-1] >= LOG_FROM * values[0])
        places = np.log(values) if log else values
        pad = PAD * (places[-1] - places[0])
        low, high = (float(np.exp(end) if log else end) for end in (places[0] - pad, places[-1] + pad))
        roomy = all(after - before >= NEAREST * (places[-1] - places[0]) for before, after in pairwise(places))
        ticks = {f"{value:.10g}": float(value) for value in values} if roomy else {}
        where = " at the bottleneck" if self.key in THRESHOLDS else ""
        name = self._unit[0]
        return Axis(f"{self.key}{where}{f', {name}' if name else ''}", low, high, log=log, ticks=ticks)


def swept(variants: Sequence[Variant]) -> list[Swept]:
    """The options that tell variants apart and have numbers. One that follows another (hosts of senders) is none."""
    settings = [one.settings for one in variants]
    keys = telling(settings, PLUGINS)
    found = []
    for key in keys:
        places = [_number(effective(one.settings, one.runs).get(key, "")) for one in variants]
        kinds = {kind for value, kind in filter(None, places) if value or kind}  # 0 needs no unit
        if len(kinds) == 1 and len({value for value, _ in filter(None, places)}) > 1:
            others = [other for other in keys if other != key]
            numbers = [place and place[0] for place in places]
            found.append(Swept(key, kinds.pop(), tuple(_series(variants, key, others, numbers))))
    return found


def _series(
    variants: Sequence[Variant], key: str, others: Sequence[str], numbers: Sequence[float | None]
) -> list[Series]:
    grouped: dict[tuple[str, ...], list[int]] = {}
    for index, (one, number) in enumerate(zip(variants, numbers, strict=True)):
        word = "" if number is not None else one.settings.get(key, "")
        kept = (*(one.settings.get(other, "") for other in others), str(number is not None), word)
        grouped.setdefault(kept, []).append(index)
    told: list[Settings] = []
    for first, *_ in grouped.values():
        own = effective(variants[first].settings, variants[first].runs)
        shown = [*others, *([key] if numbers[first] is None else [])]
        told.append({name: own[name] for name in shown if name in own})
    names = distinguish(told, ("controller",))
    found = []
    for name, indices in zip(names, grouped.values(), strict=True):
        placed = sorted((number, index) for index in indices if (number := numbers[index]) is not None)
        chosen = [index for _, index in placed] or indices
        found.append(Series(name, tuple(variants[i] for i in chosen), tuple(number for number, _ in placed)))
    return found


def _number(text: str) -> tuple[float, str] | None:
    """SI value and kind of what an option says; None for a word."""
    for kind, units in KINDS.items():
        try:
            return parse(text, dict(units), kind), kind
        except ValueError:
            continue
    return None
