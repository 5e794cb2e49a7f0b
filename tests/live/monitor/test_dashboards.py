"""The dashboards without Grafana: current, complete, of metrics that exist, and of queries that Prometheus parses."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from testbed.live import lab_names as of_hosts
from testbed.live.monitor import provisioning
from testbed.live.monitor.__main__ import generated
from testbed.live.monitor.services import COMPOSE_FILE
from testbed.live.names import DISTRIBUTIONS, exported_names
from tests.live.monitor.boards import NAMES, board, filled, panels, queries, variables

EXPORTED = {*exported_names(), *of_hosts.exported_names()}  # by a run or by a lab host
METRIC = re.compile(r"\btestbed_\w+")
ANY = dict.fromkeys(("instance", "port", "flow", "src"), "x")

promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool: apt-get install prometheus")


def metrics(expression: str) -> set[str]:
    """Names as the table has them: a histogram without the suffixes of its series."""
    histograms = "|".join(one.name for one in DISTRIBUTIONS)
    return {re.sub(rf"^({histograms})_(bucket|count|sum)$", r"\1", name) for name in METRIC.findall(expression)}


def test_what_is_checked_in_is_what_the_code_makes() -> None:
    for name, text in generated().items():
        assert (provisioning.SHIPPED / name).read_text() == text, f"{name} is not current; run: make dashboards"
    assert {f"grafana/dashboards/{name}.json" for name in NAMES} <= set(generated()), "a dashboard nobody makes"


def test_every_metric_asked_for_exists() -> None:
    for asked in queries():
        unknown = metrics(asked.expression) - EXPORTED
        assert metrics(asked.expression)
        assert not unknown, f"{asked}: nobody exports {unknown}"
    for name in NAMES:
        for variable in variables(name):
            assert metrics(variable["query"]) <= EXPORTED


def test_every_metric_exported_is_shown() -> None:
    shown = set().union(*(metrics(asked.expression) for asked in queries()))
    assert EXPORTED - shown == set()


@promtool
def test_prometheus_parses_every_query(tmp_path: Path) -> None:
    rules = [
        {"record": f"query:number{number}", "expr": filled(asked.expression, ANY)}
        for number, asked in enumerate(queries())
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    done = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(rules)} rules found" in done.stdout


@promtool
def test_prometheus_accepts_its_configuration() -> None:
    file = provisioning.SHIPPED / "prometheus.yml"
    done = subprocess.run(["promtool", "check", "config", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_panels_are_complete(name: str) -> None:
    for panel in panels(name):
        assert len(panel["description"]) > 40, f"{panel['title']}: say what it is and how to read it"
        assert panel["targets"]
        letters = [target["refId"] for target in panel["targets"]]
        assert len(set(letters)) == len(letters)
        for part in (panel, *panel["targets"]):
            assert part["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        if panel["type"] in ("timeseries", "stat"):
            assert panel["fieldConfig"]["defaults"]["unit"]
            assert all(target["legendFormat"] for target in panel["targets"])
        if panel["type"] == "heatmap":
            assert panel["options"]["yAxis"]["unit"]
            assert {target["format"] for target in panel["targets"]} == {"heatmap"}


@pytest.mark.parametrize("name", NAMES)
def test_layout_has_no_overlap(name: str) -> None:
    content = board(name)["panels"]
    assert len({panel["id"] for panel in content}) == len(content)
    taken: set[tuple[int, int]] = set()
    for panel in content:
        place = panel["gridPos"]
        columns = range(place["x"], place["x"] + place["w"])
        lines = range(place["y"], place["y"] + place["h"])
        cells = set(itertools.product(columns, lines))
        assert columns.stop <= 24
        assert not cells & taken, f"{panel['title']} lies on another panel"
        taken |= cells


@pytest.mark.parametrize("name", NAMES)
def test_a_variable_that_is_used_exists_and_comes_before_its_users(name: str) -> None:
    known: dict[str, str] = {}
    for variable in variables(name):
        filled(variable["query"], known)
        known[variable["name"]] = "x"
    for panel in panels(name):
        for target in panel["targets"]:
            filled(target["expr"], known)


def test_links_lead_to_dashboards_and_variables_that_exist() -> None:
    known = {board(name)["uid"]: {one["name"] for one in variables(name)} for name in NAMES}
    assert len(known) == len(NAMES)
    links = [link for name in NAMES for panel in panels(name) for link in _links(panel)]
    assert links
    for link in links:
        assert set(re.findall(r"var-(\w+)=", link)) <= known[re.findall(r"/d/([\w-]+)", link)[0]]


def _links(panel: dict[str, Any]) -> list[str]:
    return [link["url"] for link in panel.get("fieldConfig", {}).get("defaults", {}).get("links", [])]


def test_rates_are_nominal() -> None:
    """Prometheus counts per wall second: what has a unit per second must be multiplied by the dilation."""
    per_second = [asked for asked in queries() if _unit(asked.panel) in ("bps", "pps") and "rate(" in asked.expression]
    assert per_second
    for asked in per_second:
        assert "* on (instance) group_left () testbed_dilation_ratio" in asked.expression, str(asked)


def _unit(panel: Any) -> str:
    return str(panel.get("fieldConfig", {}).get("defaults", {}).get("unit", ""))


def test_grafana_is_told_of_the_right_prometheus() -> None:
    folder = provisioning.SHIPPED / "grafana" / "provisioning"
    (source,) = yaml.safe_load((folder / "datasources" / "testbed.yaml").read_text())["datasources"]
    scrape = yaml.safe_load((provisioning.SHIPPED / "prometheus.yml").read_text())["global"]
    assert source["jsonData"]["timeInterval"] == scrape["scrape_interval"]
    for name in NAMES:
        (variable,) = (one for one in board(name)["templating"]["list"] if one["type"] == "datasource")
        assert (variable["query"], variable["current"]["value"]) == (source["type"], source["uid"])


def test_the_compose_file_mounts_what_its_services_read() -> None:
    services = yaml.safe_load(COMPOSE_FILE.read_text())["services"]
    (provider,) = yaml.safe_load(
        (provisioning.SHIPPED / "grafana" / "provisioning" / "dashboards" / "testbed.yaml").read_text()
    )["providers"]
    mounted = [volume.split(":") for service in services.values() for volume in service["volumes"]]
    inside = {target: COMPOSE_FILE.parent / source for source, target, *_ in mounted if source.startswith("./")}
    settings = services["grafana"]["environment"]
    wanted = [
        provider["options"]["path"],
        settings["GF_PATHS_PROVISIONING"],
        settings["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"],
        services["prometheus"]["command"][0].removeprefix("--config.file="),
    ]
    for path in wanted:
        (target,) = (one for one in inside if Path(path).is_relative_to(one))
        assert (inside[target] / Path(path).relative_to(target)).exists(), path
