"""What several commands have in common: options, the experiment under its overrides, output."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from testbed.experiment.resolved import Resolved


class Format(StrEnum):
    """How results are printed."""

    text = "text"
    json = "json"


Formatted = Annotated[Format, typer.Option("--format", help="How results are printed on stdout.")]
ExperimentArgument = Annotated[str, typer.Argument(metavar="EXPERIMENT", help="A name from 'testbed list', or a file.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log on stderr what is built, decided and refused.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override any key of the file; may be repeated."),
]


def resolve(experiment: str, plugins: dict[str, str], options: dict[str, str], settings: list[str] | None) -> Resolved:
    """The experiment under all overrides; ``--set`` comes last, so that it can add to ``--controller``."""
    from testbed.experiment.load import load, resolve

    loaded = load(experiment)
    for name, value in plugins.items():
        if value:
            loaded = loaded.replace({name: value}, f"--{name}")
    pairs = [(key, value) for key, value in options.items() if value]
    return resolve(loaded.apply([*(f"{key}={value}" for key, value in pairs), *(settings or [])]))


def options_of(settings: list[str] | None) -> dict[str, Any]:
    """A plugin's or job's own options, from ``--set key=value``; the value is YAML."""
    from testbed.errors import BadInput
    from testbed.experiment.document import Document

    parsed = {}
    for setting in settings or []:
        key, equals, text = setting.partition("=")
        if not equals or not key.strip():
            raise BadInput(f"--set {setting}: expected key=value, for example --set seed=2")
        parsed[key.strip()] = Document.parse(f"value: {text}", f"--set {setting}").data["value"]
    return parsed


def print_resolved(resolved: Resolved, format: Format) -> None:
    print(resolved.as_json() if format is Format.json else resolved.as_yaml().rstrip())


def print_json(value: Any) -> None:
    import json

    print(json.dumps(value, indent=2))


def log_if(verbose: bool) -> None:
    """Log on stderr from now on, if that was asked for."""
    if verbose:
        from testbed.cli.verbose import log_to_stderr

        log_to_stderr()
