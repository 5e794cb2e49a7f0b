"""Queries to Prometheus between the waves of a rollout. What it does not answer, or does not know, is never a pass."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import Any

from .errors import LabError

PATIENCE = 10.0  # s for one answer
AGAIN = 1.0  # s until it is asked again for what it does not know


@dataclass(frozen=True)
class Gate:
    """A query, of which there have to be so many series, and each within the bounds."""

    query: str
    least: float | None = None
    most: float | None = None
    series: int = 1

    def __post_init__(self) -> None:
        if self.least is None and self.most is None:
            raise LabError(f"gate {self.query}: any value would pass; give least, most, or both")

    def holds(self, value: float) -> bool:
        """Whether a value passes. A NaN is within no bounds, and each comparison says so."""
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def knows_too_little(self, series: list[tuple[str, float]]) -> bool:
        """Whether series are missing, and none of those that are there decides."""
        return len(series) < self.series and all(self.holds(value) for _, value in series)

    @property
    def bounds(self) -> str:
        """For messages."""
        named = (("at least", self.least), ("at most", self.most))
        return " and ".join(f"{word} {bound:g}" for word, bound in named if bound is not None)


def failures(prometheus: str, gates: list[Gate], patience: float = 0.0) -> list[str]:
    """What is not within its bounds, by name; empty if all gates are open. Raises LabError as `ask` does.

    ``patience``: s in which to ask again for missing series, as after a missed scrape. Values decide at once.
    """
    deadline = time.monotonic() + patience
    found = []
    for gate in gates:
        series = ask(prometheus, gate.query)
        while gate.knows_too_little(series) and time.monotonic() < deadline:
            time.sleep(AGAIN)
            series = ask(prometheus, gate.query)
        if gate.knows_too_little(series):
            has = f"{len(series)} of {gate.series}" if series else "no"
            found.append(f"gate {gate.query}: Prometheus has {has} such series, so that too little is known")
        found += [
            f"gate {gate.query}: {name or 'it'} is {value:g}; {gate.bounds} is expected"
            for name, value in series
            if not gate.holds(value)
        ]
    return found


def ask(prometheus: str, query: str) -> list[tuple[str, float]]:
    """Labels and value of each series now. Raises LabError if there is no answer, or it is not Prometheus's."""
    url = f"{prometheus.rstrip('/')}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            body = answer.read()
        return _series(json.loads(body)["data"])
    except urllib.error.HTTPError as error:
        raise LabError(f"Prometheus at {prometheus} refuses {query}: {_reason(error)}") from None
    except OSError as error:
        raise LabError(f"Prometheus at {prometheus} does not answer: {error}; nothing passes without it") from None
    except (ValueError, TypeError, LookupError):
        raise LabError(f"{url}: expected an answer of Prometheus, not: {body.decode(errors='replace')[:100]}") from None


def _series(data: dict[str, Any]) -> list[tuple[str, float]]:
    if data["resultType"] == "scalar":
        return [("", float(data["result"][1]))]
    rows = data["result"]
    return [(_labels(row["metric"]), float(row["value"][1])) for row in rows]


def _labels(metric: dict[str, str]) -> str:
    inside = ", ".join(f'{name}="{value}"' for name, value in sorted(metric.items()) if name != "__name__")
    return f"{metric.get('__name__', '')}{{{inside}}}" if metric else ""


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read())["error"])
    except (OSError, ValueError, TypeError, LookupError):
        return str(error)
