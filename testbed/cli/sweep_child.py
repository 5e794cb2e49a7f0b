"""``python -m testbed.cli.sweep_child PARENT run ...``: the command line, ended with its parent."""

import sys

from testbed.base.linux import die_with_parent
from testbed.cli.main import main

if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    sys.argv = ["testbed", *sys.argv[2:]]  # what the run's manifest will say
    sys.exit(main())
