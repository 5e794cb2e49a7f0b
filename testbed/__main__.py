"""``testbed`` and ``python -m testbed``: the command line, if it may have the memory that it needs.

With less, libraries in C end the process while they are loaded, each in its own way; so nothing else is loaded before.
"""

from __future__ import annotations

import gc
import resource
import sys

LEAST = 1 << 30  # bytes of address space: a thread reserves 64 MiB, most of which it never touches


def main() -> int:
    """Entry point of ``testbed``."""
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if 0 <= most < LEAST:
        print(
            f"testbed: {LEAST >> 20} MiB of address space are needed, and this process may have {most >> 20}: raise "
            f"the limit (ulimit -v {LEAST >> 10})",
            file=sys.stderr,
        )
        return 1
    from testbed.cli.main import main as command_line

    code = command_line()
    gc.freeze()  # the interpreter would look through everything several times while it ends, for up to 0.3 s
    return code


if __name__ == "__main__":
    sys.exit(main())
