"""ADPG's trees written out as C and compiled: one comparison after the other, with the borders as constants."""

from __future__ import annotations

import ctypes
import tempfile
from ctypes import c_void_p
from pathlib import Path

import numpy as np

from controllers.adpg.observation import DOWN, UP
from controllers.adpg.tree import Trees
from testbed.base.arrays import Floats
from testbed.base.compiler import LIBRARY_FLAGS, compile_to

FLAGS = (*LIBRARY_FLAGS, "-ffp-contract=off")
HEAD = """
double policy(const void *parameters, const double *features);
double policy(const void *parameters, const double *features)
{
	(void)parameters;
"""
END = "\treturn sum < {least!r} ? {least!r} : sum > {most!r} ? {most!r} : sum;\n}}\n"


class Exported:
    """A policy that C can call."""

    def __init__(self, trees: Trees) -> None:
        """Raises TestbedError without a compiler."""
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "trees.c", Path(folder) / "trees.so"
            source.write_text(HEAD + _sum(trees) + END.format(least=1.0 / (1.0 + DOWN), most=1.0 + UP))
            compile_to(target, (source,), FLAGS)
            self.library = ctypes.CDLL(str(target))

    def in_c(self) -> tuple[int, Floats]:
        """For `rollout.InC`."""
        return ctypes.cast(self.library.policy, c_void_p).value or 0, np.zeros(1)


def _sum(trees: Trees) -> str:
    """Questions on floats, as CatBoost asks them, and a sum of doubles in `decide`'s order."""
    lines = [f"\tconst float f{i} = (float)features[{i}];" for i in np.unique(trees.feature).tolist()]
    lines.append(f"\tdouble sum = {float(trees.bias)!r};")
    for feature, border, leaves in zip(trees.feature, trees.border, trees.leaves, strict=True):
        values = ", ".join(repr(float(leaf)) for leaf in leaves)
        questions = enumerate(zip(feature, border, strict=True))
        asked = " | ".join(
            f"(f{number} > {float(np.float32(value))!r}f) << {bit}" for bit, (number, value) in questions
        )
        lines += ["\t{", f"\t\tstatic const double leaf[] = {{{values}}};", f"\t\tsum += leaf[{asked}];", "\t}"]
    return "\n".join([*lines, ""])
