"""`testbed monitor up` with the real Prometheus. Grafana is not part of Debian: a stand-in shows how it is started."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from testbed.live.monitor.configuration import COMPOSE_FILE, DASHBOARDS, HOME, default_targets
from tests.live.monitor.boards import expanded
from tests.support.monitoring import Prometheus, announced, answers, end, free_ports, monitor_up, wait_for
from tests.support.waiting import PATIENCE

NOWHERE = {"PATH": "/nowhere"}
GRAFANA = shutil.which("grafana", path="/usr/sbin:/usr/local/sbin:/usr/share/grafana/bin:/usr/bin")
prometheus = pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs Prometheus")
no_grafana = pytest.mark.skipif(GRAFANA is not None, reason="Grafana is installed")

STAND_IN = f"""#!{sys.executable}
import http.server, json, os, sys
class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/api/health" else 404)
        self.end_headers()
print(sys.argv[1:], flush=True)
print(json.dumps(dict(os.environ)), flush=True)
address = os.environ["GF_SERVER_HTTP_ADDR"], int(os.environ["GF_SERVER_HTTP_PORT"])
http.server.HTTPServer(address, Healthy).serve_forever()
"""

STAND_IN_DOCKER = """#!/bin/sh
case "$1 $2" in "info "|"compose version") exit 0; esac
echo "$@"
echo "$TESTBED_PROMETHEUS_PORT $TESTBED_GRAFANA_PORT $TESTBED_PROMETHEUS_YML"
exit 7
"""


def finished(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in err
    return process.returncode, out, err


@pytest.fixture
def path(tmp_path: Path) -> dict[str, str]:
    """An environment that knows Prometheus, and no docker."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "prometheus").symlink_to(shutil.which("prometheus") or "/nowhere")
    return {"PATH": str(programs)}


@no_grafana
def test_nothing_installed_says_how_to_get_it(tmp_path: Path) -> None:
    code, out, err = finished(monitor_up("--dir", tmp_path / "state", environment=NOWHERE))
    assert (code, out) == (1, "")
    for says in ("apt-get install prometheus", "https://apt.grafana.com", "Docker", "there is nothing to start"):
        assert says in err
    assert not (tmp_path / "state").exists()


@prometheus
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--target", "lab7"], "--target lab7: expected HOST:PORT"),
        (["--target", "lab7:99999"], "expected HOST:PORT"),
        (["--target", "http://lab7:9464"], "expected HOST:PORT"),
        (["--prometheus-port", "3000"], "cannot be both"),
        (["--prometheus-port", "0"], "--prometheus-port"),
        (["--grafana-port", "99999"], "--grafana-port"),
    ],
)
def test_bad_options_start_nothing(arguments: list[str], says: str, tmp_path: Path, path: dict[str, str]) -> None:
    code, out, err = finished(monitor_up("--dir", tmp_path / "state", *arguments, environment=path))
    assert (code, out) == (2, "")
    assert says in err
    assert not (tmp_path / "state").exists()


@prometheus
def test_a_port_in_use_is_said_before_anything_starts(tmp_path: Path, path: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, out, err = finished(monitor_up("--dir", tmp_path / "state", "--prometheus-port", port, environment=path))
    assert (code, out) == (2, "")
    assert f"port {port} for Prometheus cannot be used" in err
    assert "--prometheus-port" in err
    assert not (tmp_path / "state").exists()


@prometheus
def test_a_folder_that_cannot_be(tmp_path: Path, path: dict[str, str]) -> None:
    (tmp_path / "file").write_text("")
    ports = ["--prometheus-port", str(free_ports(1)[0])]
    code, out, err = finished(monitor_up("--dir", tmp_path / "file" / "state", *ports, environment=path))
    assert (code, out) == (2, "")
    assert "Not a directory" in err


@prometheus
@no_grafana
def test_ctrl_c_ends_what_was_started(tmp_path: Path, path: dict[str, str]) -> None:
    first, second = free_ports(2)
    state = tmp_path / "state"
    arguments = ("--dir", state, "--target", "192.0.2.7:9464")
    process = monitor_up(*arguments, "--prometheus-port", str(first), environment=path)
    there = Prometheus(first)
    assert announced(process, 1) == [f"Prometheus: {there.url}"]
    scraped = yaml.safe_load(there.api("status/config")["yaml"])["scrape_configs"][0]
    assert scraped["static_configs"][0]["targets"] == [*default_targets(), "192.0.2.7:9464"]
    assert scraped["scrape_interval"] == "1s"
    (rules,) = there.api("rules")["groups"]
    assert [rule["name"] for rule in rules["rules"]] == ["DegradedRun", "StarvingFlow", "DriftedHost", "QueueAtBuffer"]
    again = finished(monitor_up(*arguments, "--prometheus-port", str(second), environment=path))
    assert again[0] == 2
    assert "in use by another" in again[2]
    code, out, err = end(process, signal.SIGINT)
    assert (code, out) == (0, ""), err
    assert "https://apt.grafana.com" in err
    assert "Traceback" not in err
    assert not answers(there.url)


@prometheus
def test_prometheus_dies_with_a_killed_parent(tmp_path: Path, path: dict[str, str]) -> None:
    (port,) = free_ports(1)
    process = monitor_up("--dir", tmp_path / "state", "--prometheus-port", str(port), environment=path)
    url = f"http://127.0.0.1:{port}/-/ready"
    assert announced(process, 1)
    assert answers(url)
    end(process, signal.SIGKILL)
    wait_for(url, there=False)


@prometheus
@no_grafana
def test_grafana_is_started_with_the_provisioning(tmp_path: Path, path: dict[str, str]) -> None:
    stand_in = tmp_path / "grafana" / "bin" / "grafana"
    defaults = tmp_path / "grafana" / "conf" / "defaults.ini"
    for file, text in ((stand_in, STAND_IN), (defaults, "")):
        file.parent.mkdir(parents=True)
        file.write_text(text)
    stand_in.chmod(0o755)
    first, second = free_ports(2)
    state = tmp_path / "state"
    ports = ["--prometheus-port", str(first), "--grafana-port", str(second)]
    process = monitor_up("--dir", state, *ports, environment={"PATH": f"{path['PATH']}:{stand_in.parent}"})
    where = [f"Prometheus: http://127.0.0.1:{first}", f"Grafana:    http://127.0.0.1:{second}"]
    assert announced(process, 2) == where
    code, out, err = end(process, signal.SIGTERM)
    assert (code, out) == (0, ""), err
    command, settings = (state / "grafana.log").read_text().splitlines()[:2]
    assert command == f"['server', '--homepath', '{tmp_path / 'grafana'}']"
    environment = json.loads(settings)
    provisioning = Path(environment["GF_PATHS_PROVISIONING"])
    (source,) = yaml.safe_load((provisioning / "datasources" / "testbed.yaml").read_text())["datasources"]
    assert expanded(source["url"], environment) == f"http://127.0.0.1:{first}"
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "testbed.yaml").read_text())["providers"]
    shown = Path(expanded(provider["options"]["path"], environment))
    assert shown.is_absolute()
    assert {file.name for file in shown.iterdir()} == {"rack.json", "flow.json", "tuner.json", "lab-host.json"}
    assert shown.resolve() == DASHBOARDS.resolve()
    assert environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"] == str(HOME)
    assert environment["GF_SERVER_HTTP_ADDR"] == "127.0.0.1"
    assert not answers(f"http://127.0.0.1:{second}/api/health")


@no_grafana
def test_docker_starts_what_is_not_installed(tmp_path: Path) -> None:
    docker = tmp_path / "programs" / "docker"
    docker.parent.mkdir()
    docker.write_text(STAND_IN_DOCKER)
    docker.chmod(0o755)
    state, (first, second) = tmp_path / "state", free_ports(2)
    ports = ["--prometheus-port", str(first), "--grafana-port", str(second)]
    arguments = ("--dir", state, "--target", "192.0.2.7:9464", *ports)
    code, out, err = finished(monitor_up(*arguments, environment={"PATH": str(docker.parent)}))
    assert (code, out) == (1, "")
    assert "Prometheus ended (exit code 7)" in err
    command, settings = (state / "prometheus.log").read_text().splitlines()
    project = f"testbed-{first}-{second}"
    assert command == f"compose --project-name {project} --file {COMPOSE_FILE} up prometheus"
    config = state / "prometheus.yml"
    assert settings == f"{first} {second} {config}"
    (job,) = yaml.safe_load(config.read_text())["scrape_configs"]
    assert job["static_configs"] == [{"targets": [*default_targets(), "192.0.2.7:9464"]}]


@prometheus
def test_a_service_that_ends_is_shown_with_its_last_words(tmp_path: Path, path: dict[str, str]) -> None:
    (port,) = free_ports(1)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "prometheus").write_text("not a folder")
    ports = ["--prometheus-port", str(port)]
    code, out, err = finished(monitor_up("--dir", tmp_path / "state", *ports, environment=path))
    assert (code, out) == (1, "")
    assert "Prometheus ended (exit code " in err
    assert "not a directory" in err
