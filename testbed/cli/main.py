"""The command line: parse, call, print.

stdout is for results and stderr for everything else, so that ``--format json`` can be piped. Exit codes: 0 clean,
1 error, 2 bad input (nothing was built), 3 ran but the result is degraded. Whatever is heavy is imported inside the
command that needs it, so that ``testbed --help`` is quick.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache

import typer
from typer.main import get_command

from testbed.base import denied, extras
from testbed.base.strange import message
from testbed.cli import usage, words
from testbed.cli.advise import advise
from testbed.cli.agent import agent
from testbed.cli.check import check
from testbed.cli.coexist import coexist
from testbed.cli.compare import compare
from testbed.cli.crosscheck import crosscheck
from testbed.cli.decode import decode
from testbed.cli.distil import distil
from testbed.cli.doctor import doctor
from testbed.cli.explain import explain
from testbed.cli.export import export
from testbed.cli.exporter import exporter
from testbed.cli.help import Command, Group
from testbed.cli.import_experiment import import_experiment
from testbed.cli.lab import lab
from testbed.cli.list import list_
from testbed.cli.monitor import monitor
from testbed.cli.new import new
from testbed.cli.replay import replay
from testbed.cli.report import report
from testbed.cli.reproduce import reproduce
from testbed.cli.rerun import rerun
from testbed.cli.run import run
from testbed.cli.score import score
from testbed.cli.selftest import selftest
from testbed.cli.set import set_
from testbed.cli.shared import Verbose, log_if
from testbed.cli.shell import ShellCommand, shell
from testbed.cli.show import show
from testbed.cli.sweep import sweep
from testbed.cli.switch import switch
from testbed.cli.train import train
from testbed.cli.validate import validate
from testbed.cli.version import version
from testbed.cli.watch import watch

VERBS: dict[str, dict[str, Callable[..., None]]] = {
    "Run experiments": {
        "run": run, "rerun": rerun, "sweep": sweep, "reproduce": reproduce, "coexist": coexist,
        "crosscheck": crosscheck,
    },
    "See and check experiments": {"list": list_, "show": show, "validate": validate, "import": import_experiment},
    "While a run goes on": {"watch": watch, "set": set_, "shell": shell},
    "Look at results": {"compare": compare, "report": report, "replay": replay, "decode": decode},
    "Write a plugin": {
        "check": check, "score": score, "train": train, "distil": distil, "explain": explain, "export": export,
    },
    "Switches and real hosts": {"advise": advise, "agent": agent, "exporter": exporter},
    "This machine": {"doctor": doctor, "selftest": selftest, "version": version},
}  # fmt: skip
GROUPS = {
    "While a run goes on": {"monitor": monitor},
    "Write a plugin": {"new": new},
    "Switches and real hosts": {"lab": lab, "switch": switch},
}

SELDOM = 10_000  # new objects until Python looks for cycles: a command keeps what it makes, so it finds none

app = typer.Typer(
    name="testbed",
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 clean, 1 error, 2 bad input, 3 ran but the result is degraded.",
)


@app.callback()
def options(verbose: Verbose = False) -> None:
    """Emulate a rack with real packets and try congestion control in it."""
    log_if(verbose)


for purpose, verbs in VERBS.items():
    for name, verb in verbs.items():
        app.command(name, cls=ShellCommand if verb is shell else Command, rich_help_panel=purpose)(verb)
for purpose, groups in GROUPS.items():
    for name, group in groups.items():
        app.add_typer(group, name=name, rich_help_panel=purpose)


@cache
def commands() -> Callable[..., int | None]:
    """The command line, ready to be called."""
    return get_command(app)


def main() -> int:
    """Run a command: every known error is one message on stderr and an exit code."""
    gc.set_threshold(SELDOM)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's would spin on cores that agents and runs need
    words.join()
    try:
        with extras.explained(), words.whole():
            code = commands()(standalone_mode=False) or 0
            sys.stdout.flush()  # where nothing more can be written, that is found out here
            return code
    except usage.UsageProblem as error:
        if type(error).__name__ == usage.HELP:
            print(error.ctx.get_help())
        else:
            print(f"testbed: {message(usage.told(error))}", file=sys.stderr)
        return int(error.exit_code)
    except typer.Abort:  # a question that nobody answered
        return 1
    except BrokenPipeError:  # whoever reads has enough
        _end_output()
        return 1
    except Exception as error:
        if not (known := denied.known(error)):
            raise
        with suppress(OSError, MemoryError):  # it imports, which may be denied as well
            _log(error)
        print(f"testbed: {message(str(known))}", file=sys.stderr)
        _end_output()
        return known.exit_code


def _end_output() -> None:
    """What cannot be written goes nowhere, or the interpreter would fail at it when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _log(error: Exception) -> None:
    """Where it was raised: for those who look for the reason in the source."""
    import logging
    import traceback

    *_, frame = traceback.extract_tb(error.__traceback__)
    place = f"{frame.filename}:{frame.lineno}"
    logging.getLogger("testbed").info("refused", extra={"error": type(error).__name__, "raised_at": place})
