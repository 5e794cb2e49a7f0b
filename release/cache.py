"""Everything of this checkout compiled for this machine: `make cache`, into $TESTBED_CACHE or where it is looked for.

For images and hosts on which the first run shall be as quick as the others; a wheel brings it all compiled anyway.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from release.binaries import UNITS, plugins
from testbed.base.compiler import Unit, cache_folder
from testbed.compiled.layout import record
from testbed.compiled.machine import library


def fill() -> None:
    """What is there already stays."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(Unit.compiled, UNITS):
            pass
    for form, translation, _ in plugins():
        library(translation, record(form, translation.controller.config))


if __name__ == "__main__":
    fill()
    print(cache_folder())
