"""The watchdog of pauses, with real packets, in a ring of switches whose pauses wait for each other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from testbed.results import folder as results
from testbed.results.tables import QUEUE_SERIES
from tests.support.ring_rack import ALLOWED, ring
from tests.support.runs import UNCALIBRATED, run, run_clean

pytestmark = [pytest.mark.root, pytest.mark.measures]
DETECTION, RESTORATION = 100e-6, 50e-6
LOSSLESS = "groups: {0: {pfc: on, xoff: 100 kB}}"
ON = ("--engine", "kernel", "--metrics-addr", "none", *UNCALIBRATED, "--dilation")
SLOW = "4000"  # a fifth of either time is 40 ms of the wall's and more: what is told and done may be late by that


def written(tmp_path: Path, *switch: str) -> str:
    file = tmp_path / "ring.yaml"
    file.write_text(ring(LOSSLESS, ALLOWED, *switch))
    return str(file)


def test_a_queue_that_is_held_too_long_loses_its_packets_until_no_pause_comes(tmp_path: Path) -> None:
    settings = "watchdog: {action: drop, detection: 100 us, restoration: 50 us}"
    run_clean(tmp_path, written(tmp_path, settings), *ON, SLOW)
    folder = tmp_path / "clean"
    storms: dict[str, list[tuple[float, str]]] = {}
    for event in json.loads((folder / "manifest.json").read_text())["events"]:
        _, verb, queue = event["what"].split(" ", 2)
        storms.setdefault(queue, []).append((event["time"], verb))
    assert storms
    series = {name: np.array(column) for name, column in results.read_table(folder / QUEUE_SERIES).to_pydict().items()}
    for name, done in storms.items():
        assert [verb for _, verb in done] == (["drops", "restores"] * len(done))[: len(done)]
        mine = series["queue_of"] == name
        time, queue, dropped = (series[column][mine] for column in ("time", "queue", "dropped_packets"))
        read = np.append(time[1:], np.inf)  # before then, on a busy machine: a sample's time is when it is begun
        for (begin, _), (end, _) in zip(done[::2], done[1::2], strict=False):
            assert end - begin >= RESTORATION
            held = (time > begin - 0.8 * DETECTION) & (read <= begin)
            assert held.any()
            assert queue[held].min() > 0
            assert queue[(time > begin + 0.8 * RESTORATION) & (read <= end)].max(initial=0) == 0  # what waited is gone
            after = min((moment for moment, _ in done if moment > end), default=np.inf)  # until then none may be lost
            assert dropped[read <= after][-1] > dropped[read <= begin][-1]
    last = dict(zip(series["queue_of"], series["dropped_packets"], strict=True))
    lost = {name for name, dropped in last.items() if dropped}
    early = series["time"].max() - 0.8 * RESTORATION  # enough for the last sample to see what waited go
    assert {name for name, done in storms.items() if done[0][0] < early} <= lost <= {*storms}


def test_without_it_they_wait_for_ever_and_the_verdict_says_where(tmp_path: Path) -> None:
    summary = run(tmp_path / "run", written(tmp_path), *ON, "2000")
    (deadlock,) = [one for one in summary["verdict"]["reasons"] if one["what"] == "PFC deadlock"]
    assert "s1-eth2 -> s2-eth3 -> s3-eth3 -> s4-eth3 -> s5-eth3 -> s1-eth2, since" in deadlock["how_much"]
    assert not any(
        "docs/explanation/fidelity.md" in one["remedy"] for one in summary["verdict"]["reasons"]
    )  # and all is let go
