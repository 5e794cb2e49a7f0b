"""Packages that only some commands need: the extras in pyproject.toml, and how to get one.

`pip install cc-testbed` alone brings what an agent, an exporter and a switch of a lab need.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

from testbed.errors import BadInput

DISTRIBUTION = "cc-testbed"
_OF_AN_EXTRA = re.compile(r"""([\w-]+).*\bextra == ["'](\w+)["']""")


class NotInstalled(BadInput):
    """A package of an extra is not here."""


def need(*packages: str) -> None:
    """Raises NotInstalled, which names the extras to install, if one of these packages is not here."""
    if absent := missing(*packages):
        raise _refusal(absent)


def missing(*packages: str) -> list[str]:
    """Those that are not installed."""
    return [package for package in packages if find_spec(package) is None]


@contextmanager
def explained() -> Iterator[None]:
    """An import that fails for a missing extra becomes what `need` raises."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _extras():
            raise
        raise _refusal([package]) from None


def how_to_get(packages: Sequence[str]) -> str:
    """What to run for the extras that these packages belong to; uv tool and pipx make an environment anew for them."""
    extras = f"[{','.join(sorted({_extras()[package] for package in packages}))}]"
    return f'pip install "{DISTRIBUTION}{extras}" (uv tool, pipx: install again, with {extras} added)'


def _refusal(packages: Sequence[str]) -> NotInstalled:
    verb = "is" if len(packages) == 1 else "are"
    return NotInstalled(f"{', '.join(packages)} {verb} not installed; run: {how_to_get(packages)}")


@cache
def _extras() -> dict[str, str]:
    """By package; what two extras have is of the first."""
    from importlib.metadata import requires  # which takes 20 ms, and is only asked when something is missing

    found: dict[str, str] = {}
    for match in filter(None, map(_OF_AN_EXTRA.match, requires(DISTRIBUTION) or [])):
        found.setdefault(match[1].replace("-", "_"), match[2])  # as it is imported
    return found
