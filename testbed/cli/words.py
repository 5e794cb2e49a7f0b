"""The words of a line that bash wants completed: it breaks them at ``=``, which stands inside options and settings."""

from __future__ import annotations

import os

ASKED, WORDS, CURRENT, BEFORE = "_TESTBED_COMPLETE", "COMP_WORDS", "COMP_CWORD", "COMP_BEFORE"


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
