"""Commands of pages, read by the command line itself: every verb, option and choice, and nothing runs."""

from __future__ import annotations

import itertools
import re
import shlex
from typing import Any

from typer.main import get_command

from testbed.cli.main import app

AFTER = {">", "2>", "|", "&", "&&", ";"}  # the shell's; what follows is not the command's


def typed(text: str) -> list[list[str]]:
    """What comes after `testbed` in each command of a page that has a line of its own in a block."""
    blocks = re.findall(r"^```(?:sh|bash|console)?\n(.*?)^```|((?:^    .*\n)+)", text.replace("\\\n", ""), re.M | re.S)
    lines = [line.strip() for block in blocks for line in "".join(block).splitlines()]
    return [words(line) for line in lines if re.match(r"(?:sudo |uvx .*)?testbed [a-z]", line)]


def words(line: str) -> list[str]:
    """What comes after `testbed`, as a shell parts it; variables are 1."""
    parted = shlex.split(re.sub(r"\$\w+", "1", line), comments=True)
    return list(itertools.takewhile(lambda word: word not in AFTER, parted[parted.index("testbed") + 1 :]))


def understood() -> Any:
    """The command line, which reads its options and does nothing."""
    command = get_command(app)
    _stop(command)
    return command


def _stop(command: Any) -> None:
    command.callback = None
    for one in getattr(command, "commands", {}).values():
        _stop(one)
