"""Apps: which ones there are, where they run, and what needs no saying beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from testbed.experiment.apps import instances
from testbed.experiment.load import load
from testbed.experiment.model import Experiment


def experiment(*apps: dict[str, Any], **more: Any) -> Experiment:
    return Experiment.model_validate({"apps": list(apps), **more})


def test_an_experiment_of_apps_alone_has_as_many_hosts_as_they_need_and_no_flow() -> None:
    alone = experiment({"name": "server", "hosts": ["h1"], "run": "x"}, {"name": "load", "hosts": ["h4"], "run": "y"})
    assert (alone.hosts, len(alone.plan), alone.traffic.pattern) == (4, 0, "none")
    beside = {"traffic": {"pattern": "incast", "senders": 8}, "controller": "dcqcn"}
    assert experiment({"name": "load", "hosts": ["h4"], "run": "y"}, **beside).hosts == 9


def test_an_app_on_several_hosts_runs_once_on_each() -> None:
    apps = experiment({"name": "rank", "hosts": ["h3", "h1"], "run": "x"}, {"name": "one", "hosts": ["h2"], "run": "x"})
    found = [(one.name, one.host, one.number) for one in instances(apps.apps)]
    assert found == [("rank-h3", "h3", 0), ("rank-h1", "h1", 1), ("one", "h2", 0)]


def test_a_working_folder_is_relative_to_the_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("apps: [{ name: a, hosts: [h1], run: ls, folder: data, environment: { folder: data } }]")
    (app,) = load(str(file)).experiment.apps
    assert (app.folder, app.environment) == (str(tmp_path / "data"), {"folder": "data"})
