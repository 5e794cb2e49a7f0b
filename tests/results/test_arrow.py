"""What Arrow arrays are made of."""

from __future__ import annotations

import subprocess
import sys

SHOWN = """
from testbed.results import arrow
arrow.load()
import pyarrow
print(pyarrow.default_memory_pool().backend_name)
"""


def test_memory_is_that_of_the_c_library() -> None:
    """Arrow's own allocator asks for large pages, for which a virtual machine may have to wait."""
    shown = subprocess.run([sys.executable, "-c", SHOWN], check=True, capture_output=True, text=True)
    assert shown.stdout.split() == ["system"]
