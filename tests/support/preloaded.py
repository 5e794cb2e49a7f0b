"""What the process has done that commands of tests are forked from: see `tests.support.commands`.

What a command would import, all of it but PyTorch, and the command line, whose options take a while to find out.
"""

import gc
import os
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages

import testbed
from testbed.cli.main import commands
from testbed.cli.sweep_child import WHAT_RUNS_IMPORT
from testbed.engines.kernel import features
from testbed.experiment.load import load, resolve
from testbed.results.versions import versions

MODULES = [module.name for module in walk_packages(testbed.__path__, "testbed.") if ".gym" not in module.name]
MODULES += [
    *WHAT_RUNS_IMPORT, "rich.console", "rich.table", "testbed_controllers.adpg.jobs", "testbed_controllers.dcqcn",
    "testbed_plugins.static", "tests.support.commands",
]  # fmt: skip
if os.environ.get("LANE") == "beside":  # of scripts/test: commands that train policies are there
    MODULES.append("torch")
for module in MODULES:
    with suppress(ImportError):  # extras that are not installed
        import_module(module)
dict(commands().commands)  # each verb
resolve(load("incast-8"))  # entry points, what is read of experiments, the C of DCQCN
versions()
features.ask()  # which takes namespaces, a fifth of a second until they are gone
gc.freeze()  # forks need not look through it, which would copy it
