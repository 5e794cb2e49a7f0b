"""The files that Prometheus and Grafana are started with: what to scrape, which data source, which dashboards.

Checked in are those for the shipped docker-compose.yaml (``make dashboards``); `testbed monitor up` writes its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

SHIPPED = Path(__file__).parent
DASHBOARDS = SHIPPED / "grafana" / "dashboards"
IN_CONTAINER = Path("/etc/testbed/grafana/dashboards")

FIRST_METRICS_PORT, RUNS_AT_ONCE = 9464, 4  # a run whose port is taken uses the next one
SCRAPE_INTERVAL = "1s"
PROMETHEUS_PORT, GRAFANA_PORT = 9090, 3000
SOURCE_UID = "testbed-prometheus"
HOME = "rack.json"
NOTE = "# Written by testbed/live/monitor/provisioning.py (make dashboards); change it there.\n"


def default_targets() -> list[str]:
    """Where runs on this machine serve their metrics."""
    return [f"127.0.0.1:{FIRST_METRICS_PORT + number}" for number in range(RUNS_AT_ONCE)]


def prometheus_yml(targets: Iterable[str]) -> str:
    """A run lasts half a minute, so every second counts. Nobody listens while no run goes on: that is no error."""
    job = {"job_name": "testbed", "static_configs": [{"targets": list(targets)}]}
    scrape = {"scrape_interval": SCRAPE_INTERVAL, "scrape_timeout": SCRAPE_INTERVAL}
    return _yaml({"global": scrape, "scrape_configs": [job]})


def data_source_yaml(prometheus_port: int) -> str:
    """timeInterval tells Grafana how often Prometheus scrapes: ``$__rate_interval`` is made from it."""
    source = {
        "name": "testbed",
        "type": "prometheus",
        "uid": SOURCE_UID,
        "access": "proxy",
        "url": f"http://127.0.0.1:{prometheus_port}",
        "isDefault": True,
        "editable": False,
        "jsonData": {"timeInterval": SCRAPE_INTERVAL, "httpMethod": "POST"},
    }
    return _yaml({"apiVersion": 1, "datasources": [source]})


def dashboards_yaml(folder: Path) -> str:
    """Where Grafana finds the dashboards."""
    provider = {
        "name": "testbed",
        "folder": "testbed",
        "type": "file",
        "allowUiUpdates": False,
        "updateIntervalSeconds": 10,
        "options": {"path": str(folder)},
    }
    return _yaml({"apiVersion": 1, "providers": [provider]})


def files(targets: Iterable[str], prometheus_port: int, dashboards_at: Path) -> dict[str, str]:
    """Everything but the dashboards themselves: path to content."""
    return {
        "prometheus.yml": prometheus_yml(targets),
        "grafana/provisioning/datasources/testbed.yaml": data_source_yaml(prometheus_port),
        "grafana/provisioning/dashboards/testbed.yaml": dashboards_yaml(dashboards_at),
    }


def dashboards() -> dict[str, str]:
    """The shipped dashboards: path to content."""
    return {f"grafana/dashboards/{file.name}": file.read_text() for file in sorted(DASHBOARDS.glob("*.json"))}


def write(folder: Path, content: dict[str, str]) -> None:
    """Write files below a folder."""
    for name, text in content.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def _yaml(content: dict[str, Any]) -> str:
    import yaml

    return NOTE + yaml.safe_dump(content, sort_keys=False)
