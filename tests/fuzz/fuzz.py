"""Gives a command damaged inputs, and keeps what is no answer of ours.

An answer is an exit code that says so, with one message if it refuses. Everything else is a finding: an exception, a
warning of numpy's, a command that takes too long, one that takes all memory, and a message that nobody wants to read.
"""

from __future__ import annotations

import contextlib
import io
import re
import resource
import shutil
import signal
import traceback
import warnings
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from testbed.base.strange import is_plain, message
from testbed.errors import TestbedError
from tests.fuzz.mutations import damaged
from tests.fuzz.targets import Target

SECONDS = 10.0  # of CPU, for one input of at most a MB
MEMORY = 2 << 30  # bytes beyond what the process has
LONGEST_MESSAGE = 50_000
ANSWERS = frozenset({0, 2, 3})  # 1 is for what is good up to there, or was made by another testbed
ALSO = re.compile(r"(is damaged|is cut short) after \d+ packets; what comes before is good|the control channel carried")


class TooLong(BaseException):
    """Takes too long. Not an Exception, which somebody may catch."""


@dataclass(frozen=True)
class Finding:
    """What went wrong, and the smallest input that does it."""

    what: str
    content: bytes
    detail: str


def fuzz(target: Target, examples: int, number: int, folder: Path) -> dict[str, Finding]:
    """Findings by what went wrong, and where."""
    found: dict[str, Finding] = {}

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(damaged(target.seeds))
    def tried(content: bytes) -> None:
        finding = tell(target, content, folder)
        if finding and (finding.what not in found or len(content) < len(found[finding.what].content)):
            found[finding.what] = finding

    with bounded_memory():
        tried()
    return found


def tell(target: Target, content: bytes, folder: Path, allowed: Container[int] = ANSWERS) -> Finding | None:
    """What is wrong with how it is taken; nothing if all is well."""
    for old in folder.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    for name, held in {**target.beside, target.name: content}.items():
        (folder / name).write_bytes(held)
    err = io.StringIO()
    try:
        with (
            contextlib.chdir(folder), limited(), warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err),
        ):  # fmt: skip
            warnings.simplefilter("error", RuntimeWarning)
            code = target.call(Path(target.name))
    except TestbedError as error:
        code = error.exit_code
        err.write(f"testbed: {message(str(error))}")
    except (Exception, SystemExit, TooLong) as error:  # noqa: BLE001 - whatever it is, it is a finding
        return Finding(f"{type(error).__name__} at {_place(error)}", content, traceback.format_exc())
    said = err.getvalue()
    why = _wrong(code, said, allowed)
    return Finding(why, content, said) if why else None


def _wrong(code: int, said: str, allowed: Container[int]) -> str:
    if code not in allowed and not ALSO.search(said):
        return f"exit code {code}: {said[:60]}"
    if code and "testbed: " not in said:
        return f"exit code {code} without a message of ours"
    if len(said) > LONGEST_MESSAGE:
        return "a message of many pages"
    return "" if is_plain(said) else "a message with a control character"


def _place(error: BaseException) -> str:
    """The innermost line of ours."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/testbed/" in frame.filename or "/controllers/" in frame.filename]
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Not for longer than `SECONDS` of CPU, so that a busy machine matters nothing."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS, 1.0)  # again, should somebody swallow it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def bounded_memory() -> Iterator[None]:
    """As much as there is already, and `MEMORY`."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
