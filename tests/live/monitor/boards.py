"""The shipped dashboards as a test sees them: panels, queries, variables; and what Grafana fills in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import Template
from typing import Any, NamedTuple

from testbed.live.monitor.configuration import DASHBOARDS
from tests.support.monitoring import Prometheus

NAMES = sorted(file.stem for file in DASHBOARDS.glob("*.json"))
VARIABLE = re.compile(r"\$(\w+)")
LABEL_VALUES = re.compile(r"label_values\((.*), (\w+)\)")
QUERY_RESULT = re.compile(r"query_result\((.*)\)")
RANGE = 300  # s: what the dashboards show
INTERVALS = {"__rate_interval": "4s", "__range": f"{RANGE}s"}  # as with 1 s between scrapes


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


@dataclass
class Shown:
    """A run as the dashboards find it in a Prometheus."""

    prometheus: Prometheus
    instance: str
    moment: float  # in the run
    flow: str  # one without an end

    def options(self, variable: dict[str, Any], values: dict[str, str]) -> list[str]:
        """What Grafana would offer for a variable, in its order: labels of all that is shown, values of a moment.

        At the moment itself Prometheus may hold no series yet: it finds one between its first sample and its last.
        """
        query = filled(variable["query"], values)
        if found := LABEL_VALUES.fullmatch(query):
            shown = {"start": self.moment - RANGE, "end": self.moment}
            labels = self.prometheus.api("series", **{"match[]": found[1], **shown})
            return sorted({one[found[2]] for one in labels})
        (expression,) = QUERY_RESULT.fullmatch(query).groups()
        texts = [_as_text(one) for one in self.prometheus.query(expression, self.moment)]
        matches = (re.search(variable["regex"].strip("/"), text) for text in texts)
        return list(dict.fromkeys(found[1] for found in matches if found))

    def chosen(self, board: str) -> dict[str, str]:
        """Every variable of a dashboard as Grafana has it when the dashboard is opened; but for instance and flow."""
        values = {"instance": self.instance, "flow": self.flow}
        for variable in variables(board):
            options = self.options(variable, values)
            assert options, f"{board}: nothing to choose for {variable['name']}"
            first = ".*" if variable.get("includeAll") else options[0]
            values.setdefault(variable["name"], first)
        return values


def _as_text(series: dict[str, Any]) -> str:
    labels = {name: value for name, value in series["metric"].items() if name != "__name__"}
    inside = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{series['metric'].get('__name__', '')}{{{inside}}} {series['value'][1]}"
