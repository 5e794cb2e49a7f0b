"""Everything that is compiled: the data plane's eBPF programs, what reads their counters, and the agents' datapath."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from testbed.base.compiler import LIBRARY_FLAGS, Unit, shipped
from testbed.compiled.flows import DECIDE
from testbed.compiled.flows import FOLDER as COMPILED
from testbed.dataplane.build import MANY_PATHS as VARIANT
from testbed.dataplane.build import ONE_PATH, PROGRAMS
from testbed.dataplane.build import SOURCE as DATAPLANE
from testbed.dataplane.port_reader import READER

log = logging.getLogger(__package__)
SOURCE = Path(__file__).parent
# which any engine can use that has its own machine.c and sleep.c
SOURCES = (
    "heads.c",
    "schedule.c",
    "batch.c",
    "pace.c",
    "feedback.c",
    "paths.c",
    "recovery.c",
    "messages.c",
    "credits.c",
    "grants.c",
    "tell.c",
    "core.c",
    "decisions.c",
    "gather.c",
    "tasks.c",
)


def _datapath(name: str, variant: str) -> Unit:
    sources = tuple(SOURCE / name for name in (*SOURCES, "machine.c", "sleep.c"))
    return Unit(name, sources, ".so", (*LIBRARY_FLAGS, variant), headers=(SOURCE, DATAPLANE, COMPILED))


DATAPATH, MANY_PATHS = _datapath("datapath", ONE_PATH), _datapath("datapath-many-paths", VARIANT)
UNITS = (*PROGRAMS.values(), READER, DATAPATH, MANY_PATHS, DECIDE)


def all_compiled() -> bool:
    """Whether the cache holds everything."""
    return all(unit.target().exists() for unit in UNITS)


def all_shipped() -> bool:
    """Whether the wheel brought everything."""
    return all(shipped(unit.file_name) for unit in UNITS)


def compile_all() -> None:
    """Compile whatever is not in the cache yet."""
    for unit in UNITS:
        cached, began = unit.target().exists(), time.monotonic()
        about = {"file": unit.compiled(), "seconds": time.monotonic() - began}
        log.info("program from cache" if cached else "program compiled", extra=about)
