"""The command line: parse, call, print.

stdout is for results and stderr for everything else, so that ``--format json`` can be piped. Exit codes: 0 clean,
1 error, 2 bad input (nothing was built), 3 ran but the result is degraded. Whatever is heavy is imported inside the
command that needs it, so that ``testbed --help`` is quick.
"""

from __future__ import annotations

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

app = typer.Typer(
    name="testbed",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 clean, 1 error, 2 bad input, 3 ran but the result is degraded.",
)


@app.callback()
def options(verbose: Verbose = False) -> None:
    """Emulate a rack with real packets and try congestion control in it."""
    log_if(verbose)


app.command()(run)
app.command()(rerun)
app.command()(agent)
app.command()(watch)
app.command("set")(set_)
app.command(cls=ShellCommand)(shell)
app.command()(sweep)
app.command()(compare)
app.command()(crosscheck)
app.command()(coexist)
app.command()(advise)
app.command()(score)
app.command()(reproduce)
app.command("list")(list_)
app.command()(show)
app.command()(validate)
app.command("import")(import_experiment)
app.command()(doctor)
app.add_typer(new, name="new")
app.command()(check)
app.command()(replay)
app.command()(report)
app.command()(decode)
app.command()(selftest)
app.command()(version)
app.command()(exporter)
app.add_typer(monitor, name="monitor")
app.add_typer(lab, name="lab")
app.add_typer(switch, name="switch")
app.command()(train)
app.command()(distil)
app.command()(explain)
app.command()(export)


@cache
def commands() -> Callable[..., int | None]:
    """The command line, ready to be called."""
    return get_command(app)


def main() -> int:
    """Run a command: every known error is one message on stderr and an exit code."""
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
