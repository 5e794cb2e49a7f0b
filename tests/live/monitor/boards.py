"""The shipped dashboards as a test sees them: panels, queries, variables; and what Grafana fills in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from string import Template
from typing import Any, NamedTuple

from testbed.live.monitor.configuration import DASHBOARDS

NAMES = sorted(file.stem for file in DASHBOARDS.glob("*.json"))
VARIABLE = re.compile(r"\$(\w+)")
INTERVALS = {"__rate_interval": "4s", "__range": "5m"}  # as with 1 s between scrapes, and 5 minutes shown


class Asked(NamedTuple):
    """One query of one panel."""

    board: str
    panel: Mapping[str, Any]
    expression: str

    def __str__(self) -> str:
        return f"{self.board}: {self.panel['title']}: {self.expression}"


def board(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((DASHBOARDS / f"{name}.json").read_text())
    return content


def panels(name: str) -> list[dict[str, Any]]:
    """Without the headings of rows."""
    return [panel for panel in board(name)["panels"] if panel["type"] != "row"]


def queries() -> list[Asked]:
    return [Asked(name, panel, one["expr"]) for name in NAMES for panel in panels(name) for one in panel["targets"]]


def variables(name: str) -> Iterator[dict[str, Any]]:
    """Those that are asked from Prometheus."""
    return (one for one in board(name)["templating"]["list"] if one["type"] == "query")


def filled(expression: str, values: Mapping[str, str]) -> str:
    """The query as it reaches Prometheus. Raises KeyError for a variable that does not exist."""
    return VARIABLE.sub(lambda found: {**INTERVALS, **values}[found[1]], expression)


def expanded(text: str, environment: Mapping[str, str]) -> str:
    """A value of a provisioning file as Grafana reads it. Raises KeyError for a variable that is not set."""
    return Template(text).substitute(environment)
