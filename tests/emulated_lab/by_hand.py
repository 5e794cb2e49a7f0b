"""`make lab` as tests start it: it ends with whoever started it, also with a test that is killed."""

import sys

COMMAND = ("setpriv", "--pdeathsig", "TERM", sys.executable, "-m", "tests.emulated_lab")
