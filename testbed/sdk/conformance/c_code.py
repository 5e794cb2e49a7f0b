"""What `testbed check` asks a controller in C beyond what it asks all: its code, compiled and run apart with driver.c.

The driver tells it made-up events (`testbed.sdk.made_up`), once with the sanitizers of addresses and of undefined
behaviour, once instruction by instruction. Neither proves anything: what no event reaches is not seen.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from testbed.base.compiler import EXACT, SANITIZERS, can_sanitize, compile_to
from testbed.compiled.c_library import FOLDER, Native, flags_of, sources
from testbed.compiled.c_options import packed
from testbed.compiled.events import EVENTS
from testbed.compiled.layout import PATH
from testbed.compiled.records import paths_by_flow
from testbed.plugin import PluginConfig
from testbed.sdk import made_up
from testbed.sdk.conformance.answer import Answer

DRIVER = Path(__file__).with_name("driver.c")
TOLD, FUZZED, COUNTED = 100_000, 1_000_000, 1_000
STRICT = ("-std=c99", "-Wall", "-Wextra", EXACT, f"-I{FOLDER}")
SANITIZED = ("-O1", "-g", "-fno-omit-frame-pointer", *SANITIZERS)
FOUND = ("runtime error:", "ERROR: AddressSanitizer")
IMPOSSIBLE, REFUSED = 3, 5  # exit codes of the driver
NO_SOURCE = "there is no source: a shared object was given"


def questions(native: Native, config: PluginConfig) -> list[tuple[str, Callable[[], Answer]]]:
    """Name and question."""
    return [
        ("compiles without warnings", lambda: _warnings(native)),
        ("sanitizers find nothing", lambda: sanitized(native, config)),
        ("extremes do no harm", lambda: fuzzed(native, config)),
        ("instructions per event", lambda: _steps(native, config)),
    ]


def _warnings(native: Native) -> Answer:
    if not sources(native.file):
        return None, NO_SOURCE
    with tempfile.TemporaryDirectory() as folder:
        said = compile_to(Path(folder) / "one.so", sources(native.file), (*_strict(native), "-O2", "-shared", "-fPIC"))
    first = next((line for line in said.splitlines() if "warning:" in line), "")
    return not said, first or f"none by -Wall -Wextra ({native.compiler})"


def sanitized(native: Native, config: PluginConfig) -> Answer:
    """Whether a controller does nothing that C does not define, in made-up events."""
    done = _with_sanitizers(native, config, TOLD)
    if not isinstance(done, subprocess.CompletedProcess):
        return done
    if done.returncode == IMPOSSIBLE:
        number, event, rate, window, timer = done.stdout.split()
        decided = f"set rate {rate} bit/s, window {window} bytes and timer {timer} s"
        return False, f"{EVENTS[int(event)]}, event {number} of {TOLD:,}, extremes among them, {decided}"
    return True, f"{TOLD:,} made-up events, extremes among them: no bad address, no overflow, no undefined behaviour"


def fuzzed(native: Native, config: PluginConfig) -> Answer:
    """The same where every field may be an extreme; what is decided about such events does not matter."""
    done = _with_sanitizers(native, config, 0, "fuzz", str(FUZZED))
    if not isinstance(done, subprocess.CompletedProcess):
        return done
    return True, f"{FUZZED:,} events with extremes in every field: no bad address, no overflow, no undefined behaviour"


def _with_sanitizers(
    native: Native, config: PluginConfig, count: int, *arguments: str
) -> Answer | subprocess.CompletedProcess[str]:
    """The driver that has ended well, or the answer."""
    if not sources(native.file):
        return None, NO_SOURCE
    if not (driver := _sanitizing(native)):
        return None, "no compiler here has the sanitizers; run: apt install gcc"
    done = _run(driver, native, config, count, *arguments)
    said = done.stderr.splitlines()
    if found := next((line.strip() for line in said if any(kind in line for kind in FOUND)), ""):
        names = [f"/{file.name}:" for file in sources(native.file)]
        place = next((line.split()[-1] for line in said if any(name in line for name in names)), "")
        return False, found if place in found else f"{found}, {place}"
    if done.returncode not in {0, IMPOSSIBLE}:
        return False, f"it ended with status {done.returncode}: {done.stderr.strip() or 'no message'}"
    return done


@lru_cache(1)
def _sanitizing(native: Native) -> bytes:
    """The driver with the sanitizers, which two questions run; empty if no compiler has them."""
    command = can_sanitize()
    return _driver(native, SANITIZED, command) if command else b""


def _steps(native: Native, config: PluginConfig) -> Answer:
    if not sources(native.file):
        return None, NO_SOURCE
    done = _run(_driver(native, ("-O2",)), native, config, COUNTED, "steps")
    if done.returncode == REFUSED:
        return None, "this machine lets nobody step through programs (ptrace)"
    if done.returncode:
        return False, f"it ended with status {done.returncode}: {done.stderr.strip() or 'no message'}"
    *most, told = map(int, done.stdout.split())
    counted = ", ".join(f"{event} {number}" for event, number in zip(EVENTS, most, strict=True) if number >= 0)
    return True, f"at most {counted}, counted one by one in {told:,} made-up events: no bound"


def _strict(native: Native) -> tuple[str, ...]:
    return *STRICT, *flags_of(native.file)


def _driver(native: Native, flags: tuple[str, ...], command: Sequence[str] = ()) -> bytes:
    """The program. Raises TestbedError if it cannot be compiled."""
    flags = (*_strict(native), *flags, "-lm", "-D_GNU_SOURCE")
    with tempfile.TemporaryDirectory() as folder:
        compile_to(program := Path(folder) / "driver", (DRIVER, *sources(native.file)), flags, command)
        return program.read_bytes()


def _run(
    driver: bytes, native: Native, config: PluginConfig, count: int, *arguments: str
) -> subprocess.CompletedProcess[str]:
    paths = made_up.paths()
    facts = np.array([tuple(getattr(one, name) for name in PATH.names or ()) for one in paths_by_flow(paths)], PATH)
    options = packed(config, native.options, native.c.options_size)
    head = np.array([len(paths), len(options)], np.int64)
    told = b"".join(part.tobytes() for part in (head, options, facts, made_up.events(count, paths)))
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "driver"
        program.write_bytes(driver)
        program.chmod(0o700)
        done = subprocess.run([str(program), *arguments], input=told, capture_output=True, check=False)
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    )
