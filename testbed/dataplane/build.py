"""The eBPF programs of the data plane, compiled."""

from __future__ import annotations

from pathlib import Path

from testbed.base.compiler import FOR_EBPF, Unit

SOURCE = Path(__file__).parent
BPF_FLAGS = ("-O2", "-g", "-Wall", "-Werror", *FOR_EBPF, "-c")
BOLT = "-DBOLT"  # compiled with it, NICs and ports speak Bolt's protocol
VARIANTS = {"nic": (), "nic-bolt": (BOLT,), "port": (), "port-bolt": (BOLT,), "drop": ()}
PROGRAMS = {
    name: Unit(name, (SOURCE / f"{name.removesuffix('-bolt')}.bpf.c",), ".o", (*BPF_FLAGS, *flags), headers=(SOURCE,))
    for name, flags in VARIANTS.items()
}


def compiled(program: str) -> Path:
    """The eBPF object file of a program."""
    return PROGRAMS[program].compiled()
