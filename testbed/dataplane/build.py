"""The eBPF programs of the data plane, compiled."""

from __future__ import annotations

from pathlib import Path

from testbed.base.compiler import FOR_EBPF, Unit

SOURCE = Path(__file__).parent
BPF_FLAGS = ("-O2", "-g", "-Wall", "-Werror", *FOR_EBPF, "-c")
ONE_PATH, MANY_PATHS = "-DMANY_PATHS=0", "-DMANY_PATHS=1"  # of each flow; also of what is compiled natively


def _unit(name: str, source: str, variant: str = ONE_PATH) -> Unit:
    return Unit(name, (SOURCE / f"{source}.bpf.c",), ".o", (*BPF_FLAGS, variant), headers=(SOURCE,))


PROGRAMS = {name: _unit(name, name) for name in ("nic", "port", "drop")}
PROGRAMS |= {f"{name}-many-paths": _unit(f"{name}-many-paths", name, MANY_PATHS) for name in ("nic", "port")}


def compiled(program: str, *, many_paths: bool = False) -> Path:
    """The eBPF object file of a program."""
    return PROGRAMS[f"{program}-many-paths" if many_paths else program].compiled()
