"""The answer to a question of `testbed check`, and how answers say what several of them say."""

from __future__ import annotations

Answer = tuple[bool | None, str]  # None: the question is not for this plugin


def percent(share: float) -> str:
    """With one decimal."""
    return f"{100 * share:.1f} %"


def repeated(what: str, one: str, two: str) -> Answer:
    """Whether two runs of a seed have the same digest of ``what``."""
    if one == two:
        return True, f"the same seed gave the same {what} twice (digest {one})"
    return False, f"the same seed gave other {what}: digests {one} and {two}"
