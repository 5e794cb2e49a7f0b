"""The command line: parse, call, print.

stdout is for results and stderr for everything else, so that ``--format json`` can be piped. Exit codes: 0 clean,
1 error, 2 bad input (nothing was built), 3 ran but the result is degraded. Whatever is heavy is imported inside the
command that needs it, so that ``testbed --help`` is quick.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.main import get_command, get_group

from testbed.base import denied, extras
from testbed.base.strange import message
from testbed.cli import usage, words
from testbed.cli.help import Command, Group
from testbed.cli.shared import Verbose, log_if

VERBS = {
    "Run experiments": ["run", "rerun", "sweep", "reproduce", "coexist", "crosscheck"],
    "See and check experiments": ["list", "show", "validate", "import"],
    "While a run goes on": ["watch", "set", "shell", "monitor"],
    "Look at results": ["compare", "report", "replay", "decode"],
    "Write a plugin": ["check", "score", "train", "distil", "explain", "export", "new"],
    "Switches and real hosts": ["advise", "agent", "exporter", "lab", "switch"],
    "This machine": ["doctor", "selftest", "version"],
}
PURPOSES = {verb: purpose for purpose, verbs in VERBS.items() for verb in verbs}
OTHERWISE = {"import": "import_experiment", "list": "list_", "set": "set_"}  # Python has these words itself

SELDOM = 10_000  # new objects until Python looks for cycles: a command keeps what it makes, so it finds none


class Verbs(Mapping[str, Any]):
    """Each is imported, and its options found out, when somebody asks for it: for all of them that takes longer than
    most of what they do.
    """

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, verb: str) -> Any:
        if verb not in self._made:
            self._made[verb] = _made(verb, PURPOSES[verb])
        return self._made[verb]

    def __iter__(self) -> Iterator[str]:
        return iter(PURPOSES)

    def __len__(self) -> int:
        return len(PURPOSES)


def _made(verb: str, purpose: str) -> Any:
    name = OTHERWISE.get(verb, verb)
    module = import_module(f"testbed.cli.{name.rstrip('_')}")
    does, alone = getattr(module, name), typer.Typer()
    if isinstance(does, typer.Typer):
        alone.add_typer(does, name=verb, rich_help_panel=purpose)
    else:
        alone.command(verb, cls=getattr(module, "ShellCommand", Command), rich_help_panel=purpose)(does)
    return get_group(alone).commands[verb]


class Testbed(Group):
    """All of them."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given | {"commands": Verbs()})


app = typer.Typer(
    name="testbed",
    cls=Testbed,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 clean, 1 error, 2 bad input, 3 ran but the result is degraded.",
)


@app.callback()
def options(verbose: Verbose = False) -> None:
    """Emulate a rack with real packets and try congestion control in it."""
    log_if(verbose)


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
