"""What the machine denies is one message, and what is a bug keeps its traceback."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from testbed.base import denied
from testbed.errors import BadInput, PluginFailed, TestbedError


def of(number: int, file: str | None = None) -> OSError:
    return OSError(number, os.strerror(number), file)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (MemoryError(), "not enough memory"),
        (of(errno.ENOMEM), "not enough memory.*ulimit -v"),
        (of(errno.EAGAIN), "no more processes.*ulimit -u"),
        (of(errno.EMFILE, "/a"), "/a: too many files are open.*ulimit -n"),
        (of(errno.ENOSPC, "/a"), "/a: no space is left on the disk"),
        (of(errno.ENOENT, "ansible"), "^ansible: no such file or directory$"),
        (ImportError("x.so: failed to map segment from shared object"), "not enough memory"),
        (RuntimeError("can't start new thread"), "no more processes"),
        (RuntimeError("Symlink loop from '/a'"), "Symlink loop from '/a'"),
    ],
)
def test_what_is_denied_is_told_with_what_to_do(error: Exception, says: str) -> None:
    known = denied.known(error)
    assert known is not None
    assert known.exit_code == 1
    with pytest.raises(TestbedError, match=says):
        raise known
    assert denied.told(error) == str(known)


def test_what_numpy_cannot_have_is_memory() -> None:
    with pytest.raises(MemoryError) as caught:
        np.zeros(1 << 50)
    assert denied.told(caught.value) == denied.MEMORY


def test_depth_and_a_long_name_are_bad_input_and_what_is_known_stays() -> None:
    assert isinstance(denied.known(RecursionError()), BadInput)
    with pytest.raises(BadInput, match=r"^/a: file name too long$"):
        raise denied.known(of(errno.ENAMETOOLONG, "/a")) or AssertionError
    failed = PluginFailed("controller 'x': line 3")
    assert denied.known(failed) is failed


@pytest.mark.parametrize("bug", [KeyError("x"), ValueError("y"), RuntimeError("z"), ImportError("no module")])
def test_a_bug_is_none_of_these(bug: Exception) -> None:
    assert denied.known(bug) is None
    assert denied.told(bug).startswith("this is a bug in testbed:\n")
    assert str(bug) in denied.told(bug)


def test_the_end_of_a_process() -> None:
    assert denied.ended(denied.NO_MEMORY) == denied.MEMORY
    assert [denied.ended(code) for code in (-9, 3)] == ["signal 9", "exit code 3"]
