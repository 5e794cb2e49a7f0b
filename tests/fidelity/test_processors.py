"""How much time the cores had left, against a /proc/stat of our own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from testbed.fidelity import processors

TICKS = 50  # of a window and core


def watch(path: Path, monkeypatch: pytest.MonkeyPatch, windows: list[int]) -> processors.Processors:
    """With so many idle ticks of 50 on one core, window by window; the others are idle all the time.

    Of what is not idle a tenth is stolen.
    """
    clock = [0.0]
    monkeypatch.setattr(processors, "STAT", path)
    monkeypatch.setattr("testbed.fidelity.processors.time.monotonic", lambda: clock[0])
    cores = sorted(os.sched_getaffinity(0))
    idle = dict.fromkeys(cores, 0)
    total = 0

    def write() -> None:
        busy = {core: total - idle[core] for core in cores}
        stolen = {core: ticks // 10 for core, ticks in busy.items()}
        lines = [f"cpu{core} {busy[core] - stolen[core]} 0 0 {idle[core]} 0 0 0 {stolen[core]} 0 0" for core in cores]
        path.write_text("\n".join(["cpu 0 0 0 0 0 0 0 0", *lines, "intr 0"]))

    write()
    watched = processors.Processors()
    for ticks in windows:
        total += TICKS
        for core in cores:
            idle[core] += ticks if core == cores[0] else TICKS
        clock[0] += processors.WINDOW_SECONDS
        write()
        watched.sample()
    return watched


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ([], 1.0),  # a run shorter than a window
        ([50, 10, 40], 0.2),
        ([50] * 98 + [0], 0.0),
        ([25] * 99 + [0], 0.5),  # something else had a core once, for half a second of fifty
        ([25] * 98 + [0, 5], 0.1),
    ],
)
def test_the_busiest_window_counts_and_in_a_long_run_its_p99(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windows: list[int], expected: float
) -> None:
    assert watch(tmp_path / "stat", monkeypatch, windows).least_idle == pytest.approx(expected)


def test_what_the_host_took_is_of_the_whole_run_and_of_the_core_that_it_took_most_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert watch(tmp_path / "stat", monkeypatch, [50, 0, 10, 40]).stolen == pytest.approx(0.05)
    assert watch(tmp_path / "stat", monkeypatch, []).stolen == 0.0
