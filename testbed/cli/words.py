"""The words of a line that a shell wants completed, of which the last may be ``--option=value``.

Bash breaks words at ``=``, which stands inside options and settings, and wants the part behind the last one. Zsh and
fish break nothing and want the whole word, so that each value is told with its option.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

ASKED, WORDS, CURRENT, BEFORE = "_TESTBED_COMPLETE", "COMP_WORDS", "COMP_CWORD", "COMP_BEFORE"
LINE = "_TYPER_COMPLETE_ARGS"


def join() -> None:
    """If bash asks: its words as any other shell has them, but for the last one.

    Bash wants to know how that goes on behind its last ``=``; what stands before is kept as `before`. An empty word
    behind ``=`` is the next one, which nobody has begun.
    """
    if os.environ.get(ASKED) != "complete_bash":
        return
    joined, broken = list[str](), os.environ[WORDS].split("\n")[: int(os.environ[CURRENT]) + 1]
    for number, word in enumerate(broken):
        if number and word and "=" in (word, broken[number - 1]):
            joined[-1] += word
        else:
            joined.append(word)
    *words, current = joined
    if current.startswith("--") and "=" in current:
        option, _, current = current.partition("=")
        words.append(option)
    key, equals, value = current.rpartition("=")
    os.environ |= {WORDS: "\n".join([*words, value]), CURRENT: str(len(words)), BEFORE: key + equals}


def before() -> str:
    """What stands before the part of a word that is completed, such as ``controller=``."""
    return os.environ.get(BEFORE, "")


@contextmanager
def whole() -> Iterator[None]:
    """If zsh or fish ask for the value of ``--option=``: what is printed meanwhile has the option before each value."""
    line, _, word = os.environ.get(LINE, "").rpartition(" ")
    option, equals, value = word.partition("=")
    if ASKED not in os.environ or BEFORE in os.environ or not equals or not option.startswith("--"):
        yield
        return
    os.environ[LINE] = f"{line} {option} {value}"
    said = io.StringIO()
    try:
        with redirect_stdout(said):
            yield
    finally:  # fish gets a value per line, zsh all in _arguments '*: :(("a"\n"b"))'
        begins = r'(?m)(^"|\(\(")' if os.environ[ASKED] == "complete_zsh" else r"(?m)(^)(?=.)"
        print(re.sub(begins, rf"\g<1>{option}=", said.getvalue()), end="")
