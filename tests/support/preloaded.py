"""What the process has done that commands of tests are forked from: see `tests.support.commands`.

Most of what a run would import, and the command line, whose options take a while to find out.
"""

import gc
import os
from importlib import import_module

from testbed.cli.main import commands
from testbed.cli.sweep_child import WHAT_RUNS_IMPORT
from testbed.engines.kernel import features
from testbed.experiment.load import load, resolve
from testbed.results.versions import versions

MODULES = [
    *WHAT_RUNS_IMPORT, "rich.console", "rich.table", "testbed.engines.kernel.emulation",
    "testbed.engines.kernel.engine", "testbed.experiment.load", "testbed.live.server",
    "testbed.sdk.conformance.controllers", "testbed.sdk.conformance.tuners", "testbed.sdk.jobs", "testbed.sdk.replay",
    "testbed_controllers.adpg.jobs", "testbed_controllers.dcqcn", "testbed_plugins.static", "tests.support.commands",
]  # fmt: skip

if os.environ.get("LANE") == "beside":  # of scripts/test: commands that train policies and draw plots are there
    MODULES += ["torch", "matplotlib.backends.backend_svg"]
for module in MODULES:
    import_module(module)
dict(commands().commands)  # each verb
resolve(load("incast-8"))  # entry points, what is read of experiments, the C of DCQCN
versions()
features.ask()  # which takes namespaces, a fifth of a second until they are gone
gc.freeze()  # forks need not look through it, which would copy it
