"""The machines that there are wheels for, and what compiles for each of them, here."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from testbed.compiled.machine import Target

GLIBC = "2.17"  # as old as what is called there; numpy needs a newer one


@dataclass(frozen=True)
class Machine:
    """One kind of processor under Linux."""

    name: str  # as `uname -m` says it
    cpu: str  # as LLVM calls what all of them can do

    @property
    def platform(self) -> str:
        """In the name of a wheel."""
        return f"manylinux_{GLIBC.replace('.', '_')}_{self.name}"

    @property
    def compiler(self) -> tuple[str, ...]:
        """Zig brings the C library of every machine, in every version: its package from PyPI compiles for all."""
        return (sys.executable, "-m", "ziglang", "cc", "-target", f"{self.name}-linux-gnu.{GLIBC}")

    @property
    def target(self) -> Target:
        """For LLVM."""
        return Target(f"{self.name}-unknown-linux-gnu", self.cpu)


MACHINES = {one.name: one for one in (Machine("x86_64", "x86-64"), Machine("aarch64", "generic"))}
