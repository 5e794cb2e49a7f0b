"""Prometheus and Grafana on this machine: where they are, how they are started, how to get what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from testbed.live.monitor.provisioning import HOME, SHIPPED

COMPOSE_FILE = SHIPPED / "docker-compose.yaml"
SYSTEM_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/usr/share/grafana/bin")  # not in everybody's PATH
GRAFANA_HOME = Path("/usr/share/grafana")
READY, HEALTHY = "/-/ready", "/api/health"  # paths that answer 200 when the service can be used
PATIENCE = 30.0  # s to answer after the start
PATIENCE_DOCKER = 600.0  # s, for the images may have to be fetched first

HOW_TO_GET = {
    "Prometheus": """\
  Prometheus: sudo apt-get install prometheus
              (Debian starts a service of its own on port 9090; to have it out of the way:
              sudo systemctl disable --now prometheus)""",
    "Grafana": """\
  Grafana:    it is not part of Debian; from Grafana's own packages:
              sudo mkdir -p /etc/apt/keyrings
              sudo wget -O /etc/apt/keyrings/grafana.asc https://apt.grafana.com/gpg.key
              echo "deb [signed-by=/etc/apt/keyrings/grafana.asc] https://apt.grafana.com stable main" |
                  sudo tee /etc/apt/sources.list.d/grafana.list
              sudo apt-get update && sudo apt-get install grafana""",
}
GET_BY_DOCKER = (
    "  or Docker:  with an engine and its compose plugin (docs.docker.com/engine/install) nothing else is needed"
)


@dataclass(frozen=True)
class Ports:
    """Loopback ports."""

    prometheus: int
    grafana: int


@dataclass(frozen=True)
class Service:
    """A program that is to be started and watched."""

    name: str
    command: tuple[str, ...]
    url: str
    health: str  # path that answers 200 when it is ready
    environment: Mapping[str, str] = field(default_factory=dict)
    contained: bool = False

    @property
    def patience(self) -> float:
        """How long (s) it may take to answer."""
        return PATIENCE_DOCKER if self.contained else PATIENCE


@dataclass(frozen=True)
class Plan:
    """What can be started here, and how to get the rest."""

    services: tuple[Service, ...]
    advice: str


def plan(folder: Path, ports: Ports) -> Plan:
    """Installed programs first, containers for what is not installed."""
    installed = {"Prometheus": _prometheus(folder, ports.prometheus), "Grafana": _grafana(folder, ports.grafana)}
    absent = [name for name, service in installed.items() if service is None]
    docker = bool(absent) and _docker_answers()
    services = [service or (_contained(name, folder, ports) if docker else None) for name, service in installed.items()]
    advice = [] if docker or not absent else [*(HOW_TO_GET[name] for name in absent), GET_BY_DOCKER]
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
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    )
    return Service("Prometheus", command, _url(port), READY)


def _grafana(folder: Path, port: int) -> Service | None:
    program = _find("grafana", "grafana-server")
    if program is None:
        return None
    beside = Path(program).resolve().parent.parent  # an unpacked archive has bin/ and conf/
    home = next((one for one in (GRAFANA_HOME, beside) if (one / "conf" / "defaults.ini").is_file()), None)
    if home is None:
        return None
    command = (program, *(("server",) if Path(program).name == "grafana" else ()), "--homepath", str(home))
    data = folder / "grafana-data"
    paths = {
        "GF_SERVER_HTTP_PORT": str(port),
        "GF_PATHS_DATA": str(data),
        "GF_PATHS_LOGS": str(data / "log"),
        "GF_PATHS_PLUGINS": str(data / "plugins"),
        "GF_PATHS_PROVISIONING": str(folder / "grafana" / "provisioning"),
        "GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH": str(folder / "grafana" / "dashboards" / HOME),
        "GF_LOG_MODE": "console",
    }
    return Service("Grafana", command, _url(port), HEALTHY, environment={**_compose_settings(), **paths})


def _compose_settings() -> dict[str, str]:
    """Grafana's settings are written once, in the compose file."""
    import yaml

    content = yaml.safe_load(COMPOSE_FILE.read_text())
    return {name: str(value) for name, value in content["services"]["grafana"]["environment"].items()}


def _contained(name: str, folder: Path, ports: Ports) -> Service:
    environment = {"TESTBED_PROMETHEUS_PORT": str(ports.prometheus), "TESTBED_GRAFANA_PORT": str(ports.grafana)}
    project = f"testbed-{ports.prometheus}-{ports.grafana}"  # two at once must not take each other's containers
    files = ("--file", str(folder / COMPOSE_FILE.name))
    command = ("docker", "compose", "--project-name", project, *files, "up", name.lower())
    port, health = {"Prometheus": (ports.prometheus, READY), "Grafana": (ports.grafana, HEALTHY)}[name]
    return Service(name, command, _url(port), health, environment, contained=True)


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
