"""What a node of a cluster imports before its first cell; the rest is in test_cluster.py."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("numpy", "pyarrow", "pydantic", "yaml")


def test_a_nodes_worker_imports_little() -> None:
    """It does so on the core that the cell is to have; what the cell needs the cell's own process imports."""
    code = f"import sys, testbed.runs.sweep.node; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
