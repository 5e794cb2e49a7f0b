"""``python -m testbed.sweep.child PARENT run ...``: the command line in a process that does not outlive its parent."""

from __future__ import annotations

import sys

from testbed.cli import main
from testbed.linux import die_with_parent

if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    sys.argv = ["testbed", *sys.argv[2:]]  # what the run's manifest will say
    sys.exit(main())
