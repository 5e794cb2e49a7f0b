"""`testbed advise`, with real runs: small ones, of which the answer is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import command

SMALL = ("--draws", "1", "--checks", "6", "--runs", "70", "--no-compare", "--jobs", "1")


def test_traffic_that_no_threshold_changes(tmp_path: Path) -> None:
    """Half a line's rate leaves no queue."""
    fixed = ("--set", "controller={name: fixed, rate: 20 %}", "--set", "time={duration: 200 us, warmup: 50 us}")
    done = command("advise", "--traffic", "incast-2", *fixed, *SMALL, "--out", str(tmp_path / "a"), "--format", "json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["verdict"] == "nothing"
    assert answer["search"]["runs"] <= 70


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--objective", "speed"), "--objective speed: no figure is named 'speed'"),
        (("--constraint", "ql_p99"), "--constraint 'ql_p99': 'ql_p99' is not a comparison"),
        (("--constraint", "incast: ql_p99 < 1*us"), "no traffic is named 'incast'"),
        (("--change", "tuner.kmin=20 kB"), "expected at least two different values"),
        (("--change", "tuner.kmin=20 kB..10 kB"), "the lower one first"),
        (("--change", "tuner.kmin=20 kB..10 us"), "no two values of one unit"),
        (("--budget", "soon"), "--budget: 'soon' is not a time"),
        (("--runs", "10"), "give at least"),
        (("--budget", "1 ms"), "give a longer --budget"),
    ],
)
def test_what_is_refused(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = command("advise", "--traffic", "incast-2", *options, "--out", str(tmp_path / "a"))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "a").exists()
