"""What `testbed` has, for type checkers and editors."""

from testbed.errors import BadInput as BadInput
from testbed.errors import PluginFailed as PluginFailed
from testbed.errors import TestbedError as TestbedError
from testbed.results.opened import Run as Run
from testbed.runs.python import Compared as Compared
from testbed.runs.python import Sweep as Sweep
from testbed.runs.python import compare as compare
from testbed.runs.python import load as load
from testbed.runs.python import run as run
from testbed.runs.python import sweep as sweep

__version__: str
