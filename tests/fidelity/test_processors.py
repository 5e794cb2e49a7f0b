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


@pytest.mark.parametrize(("grouped", "idle"), [("0", 1.0), ("1", 0.0), (None, 1.0)])
def test_niced_processes_give_way_unless_each_session_has_a_share_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grouped: str | None, idle: float
) -> None:
    """sched(7): with autogrouping, nice values count within a session alone."""
    stat, autogroup, clock = tmp_path / "stat", tmp_path / "autogroup", iter([0.0, processors.WINDOW_SECONDS])
    monkeypatch.setattr(processors, "STAT", stat)
    monkeypatch.setattr(processors, "AUTOGROUP", autogroup)
    monkeypatch.setattr("testbed.fidelity.processors.time.monotonic", lambda: next(clock))
    if grouped is not None:
        autogroup.write_text(f"{grouped}\n")

    def niced(ticks: int) -> None:
        stat.write_text("\n".join(f"cpu{core} 0 {ticks} 0 0 0 0 0 0 0 0" for core in os.sched_getaffinity(0)))

    niced(0)
    watched = processors.Processors()
    niced(TICKS)
    watched.sample()
    assert watched.least_idle == idle
