"""Prometheus and Grafana on this machine: what is installed, how it is started, how to get what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from testbed.live.monitor.configuration import COMPOSE_FILE, HOME, PROMETHEUS_YML, PROVISIONING, grafana_settings

SYSTEM_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/usr/share/grafana/bin")  # not in everybody's PATH
GRAFANA_HOME = Path("/usr/share/grafana")
READY, HEALTHY = "/-/ready", "/api/health"
START_TIMEOUT = 30.0  # s
START_TIMEOUT_DOCKER = 600.0  # s: the images may have to be pulled first

INSTALL = {
    "Prometheus": """\
  Prometheus: sudo apt-get install prometheus
              (Debian starts it as a service on port 9090; to stop that:
              sudo systemctl disable --now prometheus)""",
    "Grafana": """\
  Grafana:    it is not part of Debian; from Grafana's own packages:
              sudo mkdir -p /etc/apt/keyrings
              sudo wget -O /etc/apt/keyrings/grafana.asc https://apt.grafana.com/gpg.key
              echo "deb [signed-by=/etc/apt/keyrings/grafana.asc] https://apt.grafana.com stable main" |
                  sudo tee /etc/apt/sources.list.d/grafana.list
              sudo apt-get update && sudo apt-get install grafana""",
}
INSTALL_DOCKER = "  or Docker:  an engine and its compose plugin (docs.docker.com/engine/install) are enough"


@dataclass(frozen=True)
class Ports:
    """Loopback ports."""

    prometheus: int
    grafana: int


@dataclass(frozen=True)
class Service:
    """A program to start and watch."""

    name: str
    command: tuple[str, ...]
    url: str
    health: str  # path that answers 200 when it is ready
    environment: Mapping[str, str] = field(default_factory=dict)
    start_timeout: float = START_TIMEOUT


@dataclass(frozen=True)
class Plan:
    """What can be started here, and how to get the rest."""

    services: tuple[Service, ...]
    advice: str


def plan(folder: Path, ports: Ports) -> Plan:
    """Installed programs first, containers for what is not installed."""
    installed = {"Prometheus": _prometheus(folder, ports.prometheus), "Grafana": _grafana(folder, ports)}
    absent = [name for name, service in installed.items() if service is None]
    docker = bool(absent) and _docker_answers()
    services = [service or (_in_docker(name, folder, ports) if docker else None) for name, service in installed.items()]
    advice = [] if docker or not absent else [*(INSTALL[name] for name in absent), INSTALL_DOCKER]
    return Plan(tuple(service for service in services if service), "\n".join(advice))


def _find(*names: str) -> str | None:
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS))
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


def _prometheus(folder: Path, port: int) -> Service | None:
    program = _find("prometheus")
    if program is None:
        return None
    command = (
        program,
        f"--config.file={folder / PROMETHEUS_YML.name}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    )
    return Service("Prometheus", command, _url(port), READY)


def _grafana(folder: Path, ports: Ports) -> Service | None:
    program = _find("grafana", "grafana-server")
    if program is None:
        return None
    unpacked = Path(program).resolve().parent.parent  # an archive has bin/ and conf/
    home = next((one for one in (GRAFANA_HOME, unpacked) if (one / "conf" / "defaults.ini").is_file()), None)
    if home is None:
        return None
    command = (program, *(("server",) if Path(program).name == "grafana" else ()), "--homepath", str(home))
    data = folder / "grafana-data"
    local = {
        "TESTBED_PROMETHEUS_PORT": str(ports.prometheus),
        "GF_SERVER_HTTP_PORT": str(ports.grafana),
        "GF_PATHS_DATA": str(data),
        "GF_PATHS_LOGS": str(data / "log"),
        "GF_PATHS_PLUGINS": str(data / "plugins"),
        "GF_PATHS_PROVISIONING": str(PROVISIONING),
        "GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH": str(HOME),
        "GF_LOG_MODE": "console",
    }
    return Service("Grafana", command, _url(ports.grafana), HEALTHY, environment={**grafana_settings(), **local})


def _in_docker(name: str, folder: Path, ports: Ports) -> Service:
    environment = {
        "TESTBED_PROMETHEUS_PORT": str(ports.prometheus),
        "TESTBED_PROMETHEUS_YML": str(folder / PROMETHEUS_YML.name),
        "TESTBED_GRAFANA_PORT": str(ports.grafana),
    }
    project = f"testbed-{ports.prometheus}-{ports.grafana}"  # two at once must not take each other's containers
    command = ("docker", "compose", "--project-name", project, "--file", str(COMPOSE_FILE), "up", name.lower())
    port, health = {"Prometheus": (ports.prometheus, READY), "Grafana": (ports.grafana, HEALTHY)}[name]
    return Service(name, command, _url(port), health, environment, START_TIMEOUT_DOCKER)


def _docker_answers() -> bool:
    """Whether there is an engine, not only the command, and it has compose."""
    if _find("docker") is None:
        return False
    return all(_succeeds(*command) for command in (("docker", "info"), ("docker", "compose", "version")))


def _succeeds(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=20).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _url(port: int) -> str:
    return f"http://127.0.0.1:{port}"
