"""The rack's programs, the agents' C and the event loop, compiled into one library by whatever compiler there is."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

from testbed.agent.build import SOURCE as AGENT
from testbed.agent.build import SOURCES as AGENT_SOURCES
from testbed.base.compiler import EXACT, Unit
from testbed.compiled.flows import FOLDER as COMPILED
from testbed.dataplane.build import BOLT, CLASSES, ONE_PATH, POOL
from testbed.dataplane.build import MANY_PATHS as SEVERAL
from testbed.dataplane.build import SOURCE as DATAPLANE
from testbed.engines.virtual.limits import MOST_PARTS
from testbed.experiment.model import Experiment
from testbed.experiment.resolved import Resolved
from testbed.live.samples import SOURCE as SAMPLES

SOURCE = Path(__file__).parent
INCLUDE = SOURCE / "include"
OPTIMISED, PLAIN = "-O3", "-O0"
LINES = "-g1"  # where in the source machine code is from
LINUX = ("-fno-semantic-interposition",)  # nobody replaces a function of it
MACOS = (f"-I{INCLUDE / 'macos'}",)  # what of Linux's headers it lacks
FLAGS = (
    OPTIMISED, LINES, "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-shared", "-fPIC", "-lm", "-pthread",
    "-fno-strict-aliasing",  # programs look at packets as structs
    "-ftls-model=initial-exec",  # what each thread has of its own takes no call to find
    EXACT,
    f"-I{INCLUDE}",
    *(MACOS if sys.platform == "darwin" else LINUX),
    f"-DMOST_PARTS={MOST_PARTS}",
)  # fmt: skip


def _world(name: str, *variant: str) -> Unit:
    return Unit(
        name,
        (SOURCE / "world.c", SOURCE / "agent.c", DATAPLANE / "port_reader.c", SAMPLES),
        ".so",
        (*FLAGS, *variant),
        headers=(
            *(SOURCE, SAMPLES.parent, AGENT, COMPILED, DATAPLANE),
            *(INCLUDE / name for name in ("linux", "bpf", "macos", "macos/linux")),
        ),
        includes=(
            DATAPLANE / "nic.bpf.c",
            DATAPLANE / "port.bpf.c",
            *(
                SOURCE / f"{name}.c"
                for name in ("host", "notices", "sleep", "barrier", "parts", "wall", "offload", "delivery", "app_links")
            ),
            *(AGENT / name for name in AGENT_SOURCES),
        ),
    )


WORLD = _world("world", ONE_PATH)
BOLT_WORLD = _world("world-bolt", ONE_PATH, BOLT)
MANY_PATHS = _world("world-many-paths", SEVERAL)
CLASSES_WORLD = _world("world-classes", ONE_PATH, CLASSES, POOL)
CLASSES_MANY_PATHS = _world("world-classes-many-paths", SEVERAL, CLASSES, POOL)
WORLDS = (WORLD, BOLT_WORLD, MANY_PATHS, CLASSES_WORLD, CLASSES_MANY_PATHS)


SHORT = 150e3
"""Packets. In a plain library each takes 1.1 us more, and optimising one takes 1.3 s."""


def unit_of(resolved: Resolved) -> Unit:
    """What an experiment runs in."""
    return _soonest(BOLT_WORLD, resolved.experiment) if resolved.src_threshold else usual_unit(resolved.experiment)


def usual_unit(experiment: Experiment) -> Unit:
    """The same, if its controllers ask for no notices of switches."""
    if experiment.rack.switch.tables:
        return _soonest(CLASSES_MANY_PATHS if experiment.routing.many_paths else CLASSES_WORLD, experiment)
    return _soonest(MANY_PATHS if experiment.routing.many_paths else WORLD, experiment)


@cache
def plain(unit: Unit) -> Unit:
    """The same to the bit, compiled in a sixth of the time."""
    flags = tuple(PLAIN if flag == OPTIMISED else flag for flag in unit.flags if flag != LINES)
    return replace(unit, name=f"{unit.name}-plain", flags=flags)


def _soonest(unit: Unit, experiment: Experiment) -> Unit:
    """Optimised, if it is there already, or the run is so long that it pays, or has to keep pace with a clock."""
    if experiment.engine != "virtual" or unit.target().exists() or _most_packets(experiment) > SHORT:
        return unit
    return plain(unit)


def _most_packets(experiment: Experiment) -> float:
    """If every host sent all the time."""
    rate = sum(map(experiment.shape.line_rate, experiment.shape.hosts))
    return rate * experiment.time.end / 8 / experiment.traffic.payload
