"""``python -m testbed.live.monitor`` writes the files that are checked in (``make dashboards``)."""

from __future__ import annotations

from testbed.live.monitor.dashboards import all_dashboards
from testbed.live.monitor.provisioning import IN_CONTAINER, PROMETHEUS_PORT, SHIPPED, default_targets, files, write


def generated() -> dict[str, str]:
    """Path below testbed/monitor to content."""
    dashboards = {f"grafana/dashboards/{name}": text for name, text in all_dashboards().items()}
    return {**dashboards, **files(default_targets(), PROMETHEUS_PORT, IN_CONTAINER)}


if __name__ == "__main__":
    write(SHIPPED, generated())
