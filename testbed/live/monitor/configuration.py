"""The files that Prometheus and Grafana are started with: all shipped, but for what else Prometheus scrapes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

SHIPPED = Path(__file__).parent
COMPOSE_FILE = SHIPPED / "docker-compose.yaml"
PROMETHEUS_YML = SHIPPED / "prometheus.yml"
ALERTS_YML = SHIPPED / "alerts.yml"
PROVISIONING = SHIPPED / "grafana" / "provisioning"
DASHBOARDS = SHIPPED / "grafana" / "dashboards"
HOME = DASHBOARDS / "rack.json"


def default_targets() -> list[str]:
    """Where runs on this machine serve their metrics."""
    return _scraped(load(PROMETHEUS_YML))["targets"]


def prometheus_yml(targets: Iterable[str]) -> str:
    """The shipped configuration with these targets."""
    content = load(PROMETHEUS_YML)
    _scraped(content)["targets"] = list(targets)
    return yaml.safe_dump(content, sort_keys=False)


def write_prometheus(folder: Path, targets: Iterable[str]) -> None:
    """What Prometheus reads, into a folder: its configuration with these targets, and the alerts that this names."""
    (folder / PROMETHEUS_YML.name).write_text(prometheus_yml(targets))
    (folder / ALERTS_YML.name).write_text(ALERTS_YML.read_text())


def grafana_settings() -> dict[str, str]:
    """Grafana's settings as environment variables; the compose file is their only home."""
    settings = load(COMPOSE_FILE)["services"]["grafana"]["environment"]
    return {name: str(value) for name, value in settings.items()}


def load(file: Path) -> dict[str, Any]:
    """A shipped YAML file."""
    content: dict[str, Any] = yaml.safe_load(file.read_text())
    return content


def _scraped(content: dict[str, Any]) -> dict[str, list[str]]:
    (job,) = content["scrape_configs"]
    (group,) = job["static_configs"]
    found: dict[str, list[str]] = group
    return found
