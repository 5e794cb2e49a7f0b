"""The eBPF programs of the data plane, compiled."""

from __future__ import annotations

from pathlib import Path

from testbed.base.compiler import FOR_EBPF, Unit

SOURCE = Path(__file__).parent
BPF_FLAGS = ("-O2", "-g", "-Wall", "-Werror", *FOR_EBPF, "-c")
PROGRAMS = {
    name: Unit(name, (SOURCE / f"{name}.bpf.c",), ".o", BPF_FLAGS, headers=(SOURCE,))
    for name in ("nic", "port", "drop")
}


def compiled(program: str) -> Path:
    """The eBPF object file of a program."""
    return PROGRAMS[program].compiled()
