"""What a shell completes: experiments, plugins, and the keys of ``--set``. What is unknown completes to nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

import typer

from testbed.cli import words
from testbed.errors import TestbedError

if TYPE_CHECKING:
    from testbed.experiment.resolved import Resolved

KINDS = ("controller", "tuner")


def experiments(incomplete: str) -> list[str]:
    """Names of installed experiments; a path is the shell's own."""
    from testbed.experiment.load import available

    return _beginning(incomplete, available())


def plugins(*kinds: str) -> Callable[[str], list[str]]:
    """Names of installed plugins of these kinds, also the last of several with commas between them."""

    def complete(incomplete: str) -> list[str]:
        from testbed.registry import names

        before, comma, last = incomplete.rpartition(",")
        found = [name for kind in kinds for name in names(kind)]
        return [f"{before}{comma}{name}" for name in _beginning(last, found)]

    return complete


def one_of(choices: type[StrEnum]) -> Callable[[str], list[str]]:
    """The values of an option that has a few."""
    return lambda incomplete: _beginning(incomplete, choices)


def settings(ctx: typer.Context, incomplete: str) -> list[str]:
    """Keys of the experiment on the command line, its plugins' options included; behind ``=`` plugins and presets."""
    try:
        now = _resolved(ctx)
    except TestbedError:
        return []
    key, equals, value = (words.before() + incomplete).partition("=")
    if equals:
        return [f"{key}={one}".removeprefix(words.before()) for one in _beginning(value, _values(now, key))]
    from testbed.results.flat import flat

    keys = [*flat(now.as_dict()), *_of_each(str(ctx.params.get("controller") or "").split(","))]
    return _beginning(incomplete, [f"{one}=" for one in keys])


def _of_each(controllers: list[str]) -> Iterator[str]:
    """Of several in a sweep, which share no options."""
    from testbed.registry import find

    for name in controllers if len(controllers) > 1 else ():
        yield from (
            f"controller[{name}].{one}" for one in ("preset", *find("controller", name).form.Config.model_fields)
        )


def _resolved(ctx: typer.Context) -> Resolved:
    from pathlib import Path

    from testbed.runs.overrides import from_user, overridden

    given, first = ctx.params, next(iter(ctx.args), "")  # not yet parsed: an option without its value came first
    if ctx.info_name == "rerun":
        from testbed.runs.rerun import Result

        loaded = Result.at(Path(first), trusted=False).loaded()
    else:
        loaded = from_user(first)
    plugins = {kind: str(given.get(kind) or "").partition(",")[0] for kind in KINDS}
    return overridden(loaded, plugins, {"engine": str(given.get("engine") or "")}, None)


def job_options(ctx: typer.Context, incomplete: str) -> list[str]:
    """Keys of the options of the job on the command line."""
    from testbed.sdk import jobs

    try:
        job = jobs.find(next(iter(ctx.args), ""), str(ctx.info_name))
    except TestbedError:
        return []
    return _beginning(incomplete, [f"{one}=" for one in job.form.Config.model_fields])


def _values(now: Resolved, key: str) -> Iterable[str]:
    from testbed.registry import names

    kind, _, option = key.partition(".")
    if kind in KINDS and option in ("", "name"):
        return names(kind)
    return getattr(now, kind).form.presets if kind in KINDS and option == "preset" else ()


def _beginning(incomplete: str, found: Iterable[str]) -> list[str]:
    return [one for one in found if one.startswith(incomplete)]
