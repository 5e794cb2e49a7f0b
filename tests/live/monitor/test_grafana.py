"""The dashboards without Grafana: complete, of metrics and labels that exist, of queries that Prometheus parses."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from testbed.live import lab_names as of_hosts
from testbed.live import metric
from testbed.live import names as of_runs
from testbed.live.distributions import DISTRIBUTIONS
from testbed.live.monitor import configuration
from testbed.live.monitor.configuration import COMPOSE_FILE, PROMETHEUS_YML, PROVISIONING, grafana_settings
from tests.live.monitor.boards import NAMES, Asked, board, expanded, filled, panels, queries, variables
from tests.support.exported import BY_HOSTS, BY_RUNS

EXPORTED = BY_RUNS | BY_HOSTS  # by a run or by a lab host
HISTOGRAM = re.compile(rf"^({'|'.join(one.name for one in DISTRIBUTIONS)})_(bucket|count|sum)$")
BY_NOMINAL_TIME = "/ on (instance) group_left () rate(testbed_nominal_time_seconds[$__rate_interval])"
METRIC = re.compile(r"\btestbed_\w+")
SELECTOR = re.compile(r"\b(testbed_\w+)\{([^}]*)\}")
GROUPING = re.compile(r"\b(by|on) \(([^)]*)\)")
ANY = dict.fromkeys(("instance", "port", "flow", "src"), "x")
COUNTED = r"(packets|frames|cnps|naks|timeouts)_total$|^testbed_nic_"
UNITS = {
    "none": "",
    "percentunit": "",
    "s": r"_seconds(_bucket)?$",
    "bytes": r"_bytes(_bucket)?$",
    "bps": r"_bytes(_total|_per_second)$",
    "pps": COUNTED,
    "ops": r"_total$",
}
"""Units that the panels have, and the metrics that are measured in each."""

promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool: apt-get install prometheus")


def base(name: str) -> str:
    """A histogram without the suffixes of its series."""
    return HISTOGRAM.sub(r"\1", name)


def metrics(expression: str) -> set[str]:
    """Names as the tables have them."""
    return {base(name) for name in METRIC.findall(expression)}


def labels_by_metric() -> dict[str, set[str]]:
    """The labels of every exported metric, and the one that Prometheus adds."""
    tables = (*of_runs.CONSTANTS, *of_runs.METRICS, *DISTRIBUTIONS)
    described = [(one.name, one.labels) for one in (*of_runs.INFOS, *of_hosts.OWN, *of_hosts.AS_A_RUN)]
    found = {name: {"instance"} for name in EXPORTED}
    for name, labels in (*described, *((one.name, metric.LABELS[one.per]) for one in tables)):
        found[name if name in found else f"{name}_total"].update(labels)
    return found


LABELS = labels_by_metric()


def labels_of(series: str) -> set[str]:
    return LABELS[base(series)] | ({"le"} if series.endswith("_bucket") else set())


def grouped(expression: str) -> Iterator[tuple[str, str]]:
    """Every label of every aggregation, with what is aggregated; those that `on` matches, with the whole query."""
    for found in GROUPING.finditer(expression):
        inside = _parenthesis(expression[found.end() :]) if found[1] == "by" else expression
        yield from ((label.strip(), inside) for label in found[2].split(","))


def _parenthesis(text: str) -> str:
    """From the first opening parenthesis to the one that closes it."""
    depth = 0
    for end, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == ")" and depth == 0:
            return text[:end]
    raise AssertionError(f"no closing parenthesis: {text}")


def kept(expression: str) -> set[str]:
    """Labels that the answer to a query may have."""
    return {label for label, _inside in grouped(expression)}


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


def test_every_label_asked_for_exists() -> None:
    expressions = [(str(asked), asked.expression) for asked in queries()]
    expressions += [(f"{name}: {one['name']}", one["query"]) for name in NAMES for one in variables(name)]
    for where, expression in expressions:
        for series, inside in SELECTOR.findall(expression):
            for matcher in filter(None, inside.split(",")):
                label, *_ = re.split(r"[=!]", matcher)
                assert label in labels_of(series), f"{where}: {series} has no label {label}"
        for label, aggregated in grouped(expression):
            there = set().union(*(labels_of(series) for series in METRIC.findall(aggregated)))
            assert label in there, f"{where}: nothing there has a label {label}"
        for series, label in re.findall(r"label_values\((\w+).*, (\w+)\)", expression):
            assert label in labels_of(series), f"{where}: {series} has no label {label}"


def test_legends_links_and_columns_use_labels_that_the_queries_keep() -> None:
    for name in NAMES:
        for panel in panels(name):
            where = f"{name}: {panel['title']}"
            for target in panel["targets"]:
                assert set(re.findall(r"{{(\w+)}}", target.get("legendFormat", ""))) <= kept(target["expr"]), where
            everywhere = set().union(*(kept(target["expr"]) for target in panel["targets"]))
            for link in _links(panel):
                assert set(re.findall(r"__field\.labels\.(\w+)", link)) <= everywhere, where
            for step in panel.get("transformations", []):
                assert set(step["options"]["indexByName"]) == everywhere, where


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
def test_prometheus_accepts_its_configuration(tmp_path: Path) -> None:
    configuration.write_prometheus(tmp_path, [*configuration.default_targets(), "[2001:db8::7]:9464"])
    for file in (PROMETHEUS_YML, tmp_path / PROMETHEUS_YML.name):
        done = subprocess.run(["promtool", "check", "config", file], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_dashboards_can_be_imported(name: str) -> None:
    """What Grafana's schema 39 requires and does not fill in."""
    content = board(name)
    assert content["uid"] == f"testbed-{name}"
    assert content["title"].startswith("testbed: ")
    assert content["schemaVersion"] == 39
    assert content["tags"] == ["testbed"]
    assert len(content["description"]) > 40
    assert content["refresh"] in content["timepicker"]["refresh_intervals"]
    assert {"id", "version", "__inputs"}.isdisjoint(content), "export it neither for sharing nor with the database's id"
    (link,) = content["links"]
    assert (link["type"], link["tags"]) == ("dashboards", content["tags"])
    for panel in content["panels"]:
        assert panel["title"]
        assert set(panel["gridPos"]) == {"h", "w", "x", "y"}
        if panel["type"] == "row":
            assert (panel["collapsed"], panel["panels"]) == (False, [])
            continue
        assert panel["type"] in ("timeseries", "stat", "heatmap", "table")
        if "fieldConfig" in panel:
            assert set(panel["fieldConfig"]) == {"defaults", "overrides"}
        letters = {target["refId"] for target in panel["targets"]}
        assert {one["matcher"]["options"] for one in panel.get("fieldConfig", {}).get("overrides", [])} <= letters
    for variable in content["templating"]["list"]:
        assert {"name", "label", "type", "query"} <= set(variable)
    for variable in variables(name):
        assert variable["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert variable["refresh"] == 2, "asked again whenever the time range changes: runs come and go"


@pytest.mark.parametrize("name", NAMES)
def test_panels_are_complete(name: str) -> None:
    for panel in panels(name):
        assert len(panel["description"]) > 40, f"{panel['title']}: say what it is and how to read it"
        assert panel["targets"]
        letters = [target["refId"] for target in panel["targets"]]
        assert len(set(letters)) == len(letters)
        for part in (panel, *panel["targets"]):
            assert part["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        for target in panel["targets"]:
            assert target.get("instant", False) is not target.get("range", False)
        if panel["type"] in ("timeseries", "stat"):
            assert panel["fieldConfig"]["defaults"]["unit"]
            assert all(target["legendFormat"] for target in panel["targets"])
            assert len({target["legendFormat"] for target in panel["targets"]}) == len(panel["targets"])
        if panel["type"] in ("heatmap", "table"):
            assert {target["format"] for target in panel["targets"]} == {panel["type"]}


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


def test_units_fit_the_metrics() -> None:
    for asked in queries():
        if asked.panel["type"] == "table":
            continue
        unit, shown = _unit(asked), set(METRIC.findall(asked.expression)) - {"testbed_nominal_time_seconds"}
        assert unit in UNITS, f"{asked}: Grafana may not know the unit {unit!r}"
        if unit == "s" and "time()" in asked.expression:
            continue  # the age of a timestamp
        if unit == "percentunit":
            assert " / " in asked.expression or all(re.search("_(ratio|seconds_total)$", one) for one in shown), asked
        if unit == "bps":
            assert asked.expression.endswith(" * 8"), asked
        for name in shown:
            assert re.search(UNITS[unit], name), f"{asked}: {name} in {unit}"


def test_rates_are_nominal() -> None:
    """Prometheus counts per wall second: what has a unit per second must be divided by the run's own time."""
    per_second = [asked for asked in queries() if _unit(asked) in ("bps", "pps", "ops") and "rate(" in asked.expression]
    assert per_second
    for asked in per_second:
        assert BY_NOMINAL_TIME in asked.expression, str(asked)


@promtool
def test_a_machine_that_stalls_shows_no_more_than_the_line(tmp_path: Path) -> None:
    """A snapshot comes a second late once: what two seconds carried is between two scrapes, a third too much in 4 s."""
    (asked,) = [one for one in queries() if (one.board, one.panel["title"]) == ("rack", "Utilisation")]
    labels = 'instance="i"'
    seconds = [*range(11), 10, *range(12, 16)]  # at the eleventh the snapshot is that of the tenth
    counted = {
        f"testbed_nominal_time_seconds{{{labels}}}": [second * 1e-3 for second in seconds],
        f'testbed_port_tx_bytes_total{{{labels},port="p"}}': [second * 12_500_000 for second in seconds],
    }
    series = [{"series": name, "values": " ".join(map(str, values))} for name, values in counted.items()]
    for name, value in (("port_capacity_bytes_per_second", 12.5e9), ("port_info", 1), ("dilation_ratio", 1000)):
        port = "" if name == "dilation_ratio" else ',port="p"'
        series.append({"series": f"testbed_{name}{{{labels}{port}}}", "values": f"{value}+0x15"})
    query = filled(asked.expression, {"instance": "i", "port": "p"})
    expected = [{"labels": f'{{{labels}, port="p"}}', "value": 1}]
    # the end of an interval that begins with the late one, whether its first moment belongs to it or not
    asked_at = [
        {"expr": f"round({query}, 0.001)", "eval_time": f"{second}s", "exp_samples": expected} for second in (14, 15)
    ]
    tests = [{"interval": "1s", "input_series": series, "promql_expr_test": asked_at}]
    (file := tmp_path / "test.yml").write_text(yaml.safe_dump({"evaluation_interval": "1s", "tests": tests}))
    done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _unit(asked: Asked) -> str:
    if asked.panel["type"] == "heatmap":
        return str(asked.panel["options"]["yAxis"]["unit"])
    return str(asked.panel["fieldConfig"]["defaults"]["unit"]) if "fieldConfig" in asked.panel else ""


def test_grafana_is_told_of_the_right_prometheus() -> None:
    (source,) = configuration.load(PROVISIONING / "datasources" / "testbed.yaml")["datasources"]
    scrape = configuration.load(PROMETHEUS_YML)["global"]
    assert source["jsonData"]["timeInterval"] == scrape["scrape_interval"]
    for name in NAMES:
        (variable,) = (one for one in board(name)["templating"]["list"] if one["type"] == "datasource")
        assert (variable["query"], variable["current"]["value"]) == (source["type"], source["uid"])


def test_the_compose_file_mounts_what_its_services_read() -> None:
    services = _compose()
    settings = services["grafana"]["environment"]
    (provider,) = configuration.load(PROVISIONING / "dashboards" / "testbed.yaml")["providers"]
    mounted = [volume.split(":") for service in services.values() for volume in service["volumes"]]
    inside = {target: COMPOSE_FILE.parent / source for source, target, *_ in mounted if source.startswith("./")}
    wanted = [
        os.path.normpath(expanded(provider["options"]["path"], settings)),
        settings["GF_PATHS_PROVISIONING"],
        settings["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"],
        services["prometheus"]["command"][0].removeprefix("--config.file="),
    ]
    for path in wanted:
        (target,) = (one for one in inside if Path(path).is_relative_to(one))
        assert (inside[target] / Path(path).relative_to(target)).exists(), path


def test_the_services_of_the_compose_file_find_each_other() -> None:
    services = _compose()
    (source,) = configuration.load(PROVISIONING / "datasources" / "testbed.yaml")["datasources"]
    url = expanded(source["url"], services["grafana"]["environment"])
    assert f"--web.listen-address={url.removeprefix('http://')}" in services["prometheus"]["command"]
    assert grafana_settings().keys() == services["grafana"]["environment"].keys()


def _compose() -> Any:
    """The services, as if no variable were set."""
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", COMPOSE_FILE.read_text())
    services = yaml.safe_load(text)["services"]
    for service in services.values():
        service["environment"] = {name: str(value) for name, value in service.get("environment", {}).items()}
    return services
