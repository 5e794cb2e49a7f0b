"""Work in forks: results in order, and what went wrong there is raised here."""

from __future__ import annotations

import os
import sys
from functools import partial

import pytest

from testbed.advise.evidence import run
from testbed.errors import BadInput, TestbedError
from testbed.runs.forked import each
from testbed.runs.overrides import resolve


def _square(number: int) -> tuple[int, int]:
    return number**2, os.getpid()


def _refuse() -> None:
    raise BadInput("no such thing")


def _run() -> set[str]:
    """Modules that a run loads."""
    before = set(sys.modules)
    run(resolve("incast-2", {}, {}, ["time.duration=30 us", "time.warmup=0 s"]))
    return set(sys.modules) - before


def test_what_was_found_comes_in_order_from_other_processes_but_the_first() -> None:
    found = list(each([partial(_square, number) for number in range(5)], 2))
    assert [one for one, _ in found] == [0, 1, 4, 9, 16]
    assert found[0][1] == os.getpid()
    assert len({process for _, process in found}) == 5


def test_forks_import_nothing_for_themselves() -> None:
    assert list(each([_run] * 3, 2))[1:] == [set(), set()]


def test_one_job_is_this_process() -> None:
    assert list(each([partial(_square, 3)], 1)) == [(9, os.getpid())]


def test_errors_are_raised_here() -> None:
    with pytest.raises(BadInput, match="no such thing"):
        list(each([partial(_square, 1), _refuse], 2))


def test_a_process_that_dies_is_told() -> None:
    with pytest.raises(TestbedError, match="the process of a run died"):
        list(each([partial(_square, 1), partial(os._exit, 1)], 2))
