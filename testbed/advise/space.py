"""The candidates: from positions of knobs to settings of an experiment, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from testbed.advise import present
from testbed.advise.evidence import Settings
from testbed.advise.knob import Knob, ordered
from testbed.experiment.resolved import Resolved

RED = ("kmin", "kmax", "pmax")


@dataclass(frozen=True)
class Space:
    """``now`` has the present text of each key."""

    knobs: Sequence[Knob]
    now: Mapping[str, str]

    @classmethod
    def of(cls, knobs: Sequence[Knob], resolved: Resolved) -> Space:
        """Of an experiment with the present configuration."""
        keys = [key for one in knobs for same in (one.key, *one.also) for key in (same, *_beside(same))]
        return cls(knobs, {key: present.value(resolved, key) for key in dict.fromkeys(keys)})

    def candidate(self, texts: Mapping[str, str]) -> Settings:
        """With a text for some keys: an experiment wants the thresholds of a queue together, and in order."""
        also = {key: texts[one.key] for one in self.knobs if one.key in texts for key in one.also}
        beside = {key: self.now[key] for one in (*texts, *also) for key in _beside(one)}
        return ordered({**beside, **texts, **also})

    def at(self, place: Sequence[float]) -> Settings:
        """The candidate nearest to a place in the unit cube, a side for each knob."""
        return self.candidate({one.key: one.at(float(share)) for one, share in zip(self.knobs, place, strict=True)})

    def texts(self, candidate: Settings) -> dict[str, str]:
        """Of every key."""
        return {**self.now, **dict(one.split("=", 1) for one in candidate)}

    def place(self, candidate: Settings) -> list[float]:
        """The reverse."""
        texts = self.texts(candidate)
        return [one.share(texts[one.key]) for one in self.knobs]

    def has(self, candidate: Settings) -> bool:
        """Whether every knob is in its range."""
        texts = self.texts(candidate)
        return all(one.position(texts[one.key]) is not None for one in self.knobs)

    def changed(self, candidate: Settings) -> list[Knob]:
        """The knobs whose text is another one than now."""
        texts = dict(one.split("=", 1) for one in candidate)
        return [one for one in self.knobs if one.key in texts and not self._same(one, texts[one.key])]

    def _same(self, knob: Knob, text: str) -> bool:
        now = self.now[knob.key]
        return text == now or knob.number(text) == knob.number(now)


@cache
def _beside(key: str) -> tuple[str, ...]:
    """Keys that must be said with this one."""
    place, _, last = key.rpartition(".")
    return tuple(f"{place}.{one}" for one in RED if one != last) if place.endswith(".red") and last in RED else ()
