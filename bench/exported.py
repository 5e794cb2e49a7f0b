"""ADPG's trees as the exported C, compiled: one comparison after the other, with the borders as constants."""

from __future__ import annotations

import ctypes
import tempfile
from ctypes import c_void_p
from pathlib import Path

import numpy as np

from controllers.adpg.export import c
from controllers.adpg.tree import Trees
from controllers.learned.trees_in_c import source as source_of
from testbed.base.arrays import Floats
from testbed.base.compiler import LIBRARY_FLAGS, compile_to

FLAGS = (*LIBRARY_FLAGS, "-ffp-contract=off", f"-I{c.SOURCE}")
POLICY = """
double policy(const void *parameters, const double *features);
double policy(const void *parameters, const double *features)
{
	double multiplier = adpg_trees(features);

	(void)parameters;
	return multiplier < ADPG_DOWN ? ADPG_DOWN : multiplier > ADPG_UP ? ADPG_UP : multiplier;
}
"""


class Exported:
    """A policy that C can call."""

    def __init__(self, trees: Trees) -> None:
        """Raises TestbedError without clang."""
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "trees.c", Path(folder) / "trees.so"
            source.write_text(source_of(trees, "adpg_trees", "adpg") + POLICY)
            compile_to(target, (source,), FLAGS)
            self.library = ctypes.CDLL(str(target))

    def in_c(self) -> tuple[int, Floats]:
        """For `rollout.InC`."""
        return ctypes.cast(self.library.policy, c_void_p).value or 0, np.zeros(1)
