"""Rules whose limits come from what was measured."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from testbed.advise.alarms import rules

RUN = {"paused_in_run": 4.0, "marked": 10.0, "ql_max": 8e-6, "drops": 0.0}


def test_limits_are_above_what_was_seen() -> None:
    (group,) = rules([RUN, {**RUN, "paused_in_run": 6.0}], 100e9)["groups"]
    told = {one["alert"]: one["expr"] for one in group["rules"]}
    assert told["PausedAfterChange"].endswith("> 9")
    assert told["MarkedAfterChange"].endswith("> 15")
    assert told["QueueAfterChange"].endswith("> 150000")
    assert "LossAfterChange" in told


def test_where_packets_were_lost_before_loss_is_no_alarm() -> None:
    (group,) = rules([{**RUN, "drops": 3.0}], 100e9)["groups"]
    assert "LossAfterChange" not in [one["alert"] for one in group["rules"]]


def test_prometheus_takes_them(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("needs promtool of Debian's prometheus")
    file = tmp_path / "alarms.yml"
    file.write_text(yaml.safe_dump(rules([RUN], 100e9)))
    subprocess.run(["promtool", "check", "rules", str(file)], check=True, capture_output=True)
