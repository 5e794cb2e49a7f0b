"""The alert rules by Prometheus' own tester, fed with what our exporters really export, second by second."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from testbed.engines.lab.exporter.collector import HostCollector
from testbed.live.exporter import Exporter
from testbed.live.monitor.configuration import ALERTS_YML, load
from testbed.live.snapshot import Snapshot
from tests.live.made import scene, snapshot
from tests.live.scrapes import Samples, samples, scraped
from tests.support import host_tree as tree
from tests.support.checkout import ROOT

pytestmark = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool: apt-get install prometheus")

INSTANCE = "127.0.0.1:9464"
SECONDS = 30  # of wall time; the made run is as long, and its warm-up takes the first 10
RULES = {rule["alert"]: rule for group in load(ALERTS_YML)["groups"] for rule in group["rules"]}
Alerts = dict[str, list[tuple[dict[str, str], str]]]  # by name: own labels and summary of each


def run(second: int, acked: tuple[int, int] = (600, 600), queue: float = 2000.0, lag: float = 0.9) -> Snapshot:
    """A run after so many seconds; ``acked`` packets per second and flow, ``queue`` bytes at the bottleneck."""
    one, two = acked
    found = snapshot(second * 1e-3, scene(), acked=(one * second, two * second))
    found.ports["queue"][-1] = queue
    return replace(found, distortion={"pacing lag": 0.4, "feedback lag": lag}, reasons=())


def scrapes(state: Callable[[int], Snapshot]) -> list[Samples]:
    exporter, found = Exporter(), []
    exporter.scene = scene()
    for second in range(SECONDS):
        exporter.snapshot = state(second)
        found.append(samples(scraped(exporter)))
    return found


def judge(folder: Path, seen: Sequence[Samples], second: int, expected: Alerts) -> None:
    """What must fire after so many seconds, and that nothing else does."""
    series = [
        {"series": _selector(name, dict(labels)), "values": " ".join(str(one.get((name, labels), "_")) for one in seen)}
        for name, labels in seen[-1]
        if not name.endswith(("_bucket", "_sum", "_count"))
    ]
    asked = [
        {
            "eval_time": f"{second}s",
            "alertname": name,
            "exp_alerts": [_alert(rule, *one) for one in expected.get(name, [])],
        }
        for name, rule in RULES.items()
    ]
    tests = [{"interval": "1s", "input_series": series, "alert_rule_test": asked}]
    file = folder / "tests.yml"
    file.write_text(yaml.safe_dump({"rule_files": [str(ALERTS_YML)], "evaluation_interval": "1s", "tests": tests}))
    done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _selector(metric: str, labels: dict[str, str]) -> str:
    inside = (f"{key}={json.dumps(value)}" for key, value in {**labels, "instance": INSTANCE}.items())
    return f"{metric}{{{','.join(inside)}}}"


def _alert(rule: dict[str, Any], labels: dict[str, str], summary: str) -> dict[str, Any]:
    return {
        "exp_labels": {"instance": INSTANCE, **rule["labels"], **labels},
        "exp_annotations": {"summary": f"{INSTANCE}: {summary}", "description": rule["annotations"]["description"]},
    }


STARVING: Alerts = {"StarvingFlow": [({"flow": "h2-h3"}, "flow h2-h3 starves")]}
FULL: Alerts = {"QueueAtBuffer": [({"port": "s1-eth3"}, "the queue of s1-eth3 fills its buffer (4.9MB)")]}
DEGRADED: Alerts = {
    "DegradedRun": [({"limit": "feedback lag"}, "feedback lag is 1.50 times what a clean run may have")]
}


@pytest.mark.parametrize(
    ("state", "second", "expected"),
    [
        (run, 25, {}),
        (lambda second: run(second, lag=1.5), 2, DEGRADED),
        (lambda second: run(second, lag=1.5 if second < 20 else 0.9), 25, {}),
        (lambda second: run(second, acked=(1000, 20)), 25, STARVING),
        (lambda second: run(second, acked=(1000, 20)), 12, {}),  # it may still catch up
        (lambda second: run(second, acked=(1000, 120)), 25, {}),  # unfair
        (lambda second: run(second, queue=4.9e6), 25, FULL),
        (lambda second: run(second, queue=4.9e6), 10, {}),  # a burst at the start
        (lambda second: run(second, queue=4.9e6 if second == 24 else 2e3), 24, {}),  # for a moment
        (lambda second: run(second, queue=4.5e6), 25, {}),
    ],
    ids=["healthy", "degraded", "recovered", "starving", "starving yet", "unfair", "full", "warm-up", "peak", "long"],
)
def test_alerts_of_a_run(state: Callable[[int], Snapshot], second: int, expected: Alerts, tmp_path: Path) -> None:
    judge(tmp_path, scrapes(state), second, expected)


def test_a_flow_that_has_ended_does_not_starve(tmp_path: Path) -> None:
    def state(second: int) -> Snapshot:
        found = run(second, acked=(1000, 20))
        found.flows["active"] = np.array([1, 0])
        return found

    judge(tmp_path, scrapes(state), 25, {})


def test_no_run_no_alert(tmp_path: Path) -> None:
    """Constants only, before the first snapshot."""
    exporter = Exporter()
    exporter.scene = scene()
    judge(tmp_path, [samples(scraped(exporter))] * SECONDS, 25, {})


@pytest.mark.parametrize(("value", "second", "adrift"), [("50", 45, False), ("40", 20, False), ("40", 45, True)])
def test_alerts_of_a_host(
    value: str, second: int, adrift: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file says 50; ``value`` is what the rollout wants."""
    monkeypatch.setenv("PATH", str(tree.tools(tmp_path / "tools")), prepend=":")
    root = tree.plant(tmp_path / "host")
    tree.roll_out(root, **{"roce_rp/rpg_ai_rate": value})
    tree.registers(root)
    labels = {"device": "mlx5_0", "name": "roce_rp/rpg_ai_rate"}
    expected: Alerts = {"DriftedHost": [(labels, "roce_rp/rpg_ai_rate of mlx5_0 is not what the rollout wants")]}
    judge(tmp_path, [samples(scraped(HostCollector(root)))] * 60, second, expected if adrift else {})


def test_every_alert_is_explained() -> None:
    text = (ROOT / "docs/howto/monitoring.md").read_text()
    assert [name for name in RULES if f"`{name}`" not in text] == []
