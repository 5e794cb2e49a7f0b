"""What is wrong with a command line, in one line, as everything else that is refused is told."""

from __future__ import annotations

import re
from typing import Any

import typer

from testbed.errors import nearest

UsageProblem: type[Any] = next(one for one in typer.BadParameter.__mro__ if one.__name__ == "ClickException")
"""Of the click that typer brings, or of click itself: which one depends on typer's version."""

HELP = "NoArgsIsHelpError"  # a command of which nothing was said
VALUE = re.compile(r"Invalid value for '([^']+)'[^:]*: (?:Value error, )?(.*)", re.DOTALL)
CHOICE = re.compile(r"'(.*)' is not one of (.*)")
WORDS = (  # what typer's types say, and what we say
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"must be at least \1"),
    (re.compile(r"Input should be less than or equal to (\S+)"), r"must be at most \1"),
    (re.compile(r"Input should be a valid integer.*|.* is not a valid int(eger)?"), "expected a whole number"),
    (re.compile(r"Input should be a valid number.*|.* is not a valid float"), "expected a number"),
)


def told(error: Any) -> str:
    """The option, what is wrong with it, and what is allowed; or where the command's help is."""
    text = str(error.format_message()).strip().removesuffix(".")
    if not (found := VALUE.fullmatch(text)):
        where = error.ctx.command_path if getattr(error, "ctx", None) else "testbed"
        return f"{text}; {where} --help lists what there is"
    option, why = found.groups()
    if chosen := CHOICE.fullmatch(why):
        given, allowed = chosen.groups()
        choices = re.findall(r"'([^']+)'", allowed)
        return f"{option} {given}: there is no such choice; {nearest(given, choices)}"
    for pattern, words in WORDS:
        why = pattern.sub(words, why)
    return f"{option}: {why}"
