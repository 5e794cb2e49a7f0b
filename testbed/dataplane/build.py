"""The eBPF programs of the data plane, compiled."""

from __future__ import annotations

from pathlib import Path

from testbed.base.compiler import FOR_EBPF, Unit

SOURCE = Path(__file__).parent
BPF_FLAGS = ("-O2", "-g", "-Wall", "-Werror", *FOR_EBPF, "-c")
ONE_PATH, MANY_PATHS = "-DMANY_PATHS=0", "-DMANY_PATHS=1"  # of each flow; also of what is compiled natively
BOLT = "-DBOLT"  # compiled with it, NICs and ports speak Bolt's protocol
CLASSES = "-DCLASSES=1"  # compiled with it, ports have several queues
POOL = "-DPOOL=1"  # and with this as well, they share the memory of their switch
VARIANTS = {
    "": (ONE_PATH,),
    "-bolt": (ONE_PATH, BOLT),
    "-many-paths": (MANY_PATHS,),
    "-classes": (ONE_PATH, CLASSES),
    "-classes-many-paths": (MANY_PATHS, CLASSES),
    "-pool": (ONE_PATH, CLASSES, POOL),
    "-pool-many-paths": (MANY_PATHS, CLASSES, POOL),
}


def _unit(name: str, suffix: str = "", flags: tuple[str, ...] = ()) -> Unit:
    return Unit(f"{name}{suffix}", (SOURCE / f"{name}.bpf.c",), ".o", (*BPF_FLAGS, *flags), headers=(SOURCE,))


PROGRAMS = {
    f"{name}{suffix}": _unit(name, suffix, flags) for name in ("nic", "port") for suffix, flags in VARIANTS.items()
} | {"faults": _unit("faults")}


def compiled(program: str) -> Path:
    """The eBPF object file of a program."""
    return PROGRAMS[program].compiled()
