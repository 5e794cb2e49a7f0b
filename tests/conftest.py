"""Marks and fixtures that all tests share."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from testbed.fidelity.processors import STOLEN, Processors
from tests.support import commands
from tests.support.census import Census
from tests.support.runs import Runs

# A shell that starts us in its background has Ctrl-C ignored, nohup a hangup, and what we start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
# While tests are collected, what pytest makes of their asserts is kept for the next time: it is half of the work. But
# root leaves nothing in a checkout that is another user's.
sys.dont_write_bytecode = os.geteuid() != Path(__file__).stat().st_uid
# Collecting takes half as long: what it makes stays until the end, and need not be looked through again and again.
gc.disable()


# Of tests that measure: a clean run may have one stall of two RTTs, which moves a mean. What is wrong every time fails
# every time; the summary names what was tried again.
RERUNS, MEASURED = 2, ("AssertionError", "Uncalibrated")
AGAIN = pytest.mark.flaky(reruns=RERUNS, only_rerun=[*MEASURED, "Aborted"])
CORES = pytest.StashKey[Processors]()


def pytest_configure() -> None:
    from hypothesis import settings  # pytest rewrites its asserts, too: they are kept like those of tests

    # Nothing is written into the checkout, which may belong to another user; and the same examples every time.
    settings.register_profile("testbed", database=None, derandomize=True, deadline=None)
    settings.load_profile("testbed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)  # where two files run at a time, the last ones should be short
    for item in items:
        if item.get_closest_marker("measures"):
            item.add_marker(AGAIN)
    if os.geteuid() == 0:
        return
    for item in items:
        if item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason="needs root: sudo -E .venv/bin/python -m pytest"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("measures"):
        item.stash[CORES] = Processors()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What measures is skipped instead of failed, with that share, where the host of this machine took its cores.

    Meanwhile nothing runs here, not even timers: nothing can be asserted of real packets. It is tried again before.
    What a test leaves behind, and whatever else is wrong, fails there, too.
    """
    report = yield
    cores = item.stash.get(CORES, None)
    if not (cores and call.excinfo and call.when != "teardown" and call.excinfo.typename in (*MEASURED, "Failed")):
        return report
    again = call.excinfo.typename in MEASURED and getattr(item, "execution_count", 1) <= RERUNS
    cores.sample()
    if cores.stolen > STOLEN and not again:
        said = f"other virtual machines took {cores.stolen:.1%} of a core's time: {call.excinfo.exconly()}"
        report.outcome, report.longrepr = "skipped", (str(item.path), item.location[1], said)
    return report


def pytest_collection_finish() -> None:
    sys.dont_write_bytecode = True  # a test may write a module twice within what the clock of files tells apart
    gc.freeze()
    gc.set_threshold(10_000)  # as seldom as in a command, see testbed.cli.main
    gc.enable()


@pytest.fixture(scope="session")
def shared_runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def runs(shared_runs: Runs, request: pytest.FixtureRequest) -> Runs:
    """Clean runs that several tests share; a test that is tried again makes its own again."""
    shared_runs.begin(again=request.node.execution_count > 1)
    return shared_runs


@pytest.fixture(autouse=True)
def leaves_nothing(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every root test: no link, namespace, process, mount or pin more than before."""
    if not request.node.get_closest_marker("root"):
        yield
        return
    commands.start()  # it stays
    before = Census.take()
    yield
    left = before.leftovers()
    if left:
        pytest.fail("the test left behind:\n  " + "\n  ".join(left))


@pytest.fixture(scope="session")
def without_clang(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH on which everything is but clang."""
    folder = tmp_path_factory.mktemp("bin")
    places = reversed(os.environ["PATH"].split(":"))  # the first one has the last word
    programs = {program.name: program for place in places for program in Path(place).glob("*")}
    for name, program in programs.items():
        if not name.startswith("clang"):
            (folder / name).symlink_to(program)
    return str(folder)
