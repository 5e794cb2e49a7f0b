"""What several commands have in common: options and output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import typer

from testbed.cli import completion

if TYPE_CHECKING:
    from testbed.experiment.resolved import Resolved


class Named(Protocol):
    """A run."""

    @property
    def name(self) -> str:
        """Of its results folder."""
        ...


Running = TypeVar("Running", bound=Named)


class Format(StrEnum):
    """How results are printed."""

    text = "text"
    json = "json"


class EngineChoice(StrEnum):
    """The engines that need no inventory."""

    kernel = "kernel"
    virtual = "virtual"
    live = "live"
    fluid = "fluid"


def choice(choices: type[StrEnum], help: str, *names: str) -> Any:
    """An option that has a few values."""
    return typer.Option(*names, metavar="|".join(choices), help=help, autocompletion=completion.one_of(choices))


Formatted = Annotated[Format, choice(Format, "How results are printed on stdout.", "--format")]
ExperimentArgument = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT", help="A name from 'testbed list', or a file.", autocompletion=completion.experiments
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log on stderr what is built, decided and refused.")]
OptionalExperiment = Annotated[
    str,
    typer.Argument(
        metavar="[EXPERIMENT]", help="A name from 'testbed list', or a file.", autocompletion=completion.experiments
    ),
]


def plugin(kind: str, help: str, metavar: str = "NAME|PATH") -> Any:
    """An option that names a plugin, or several."""
    return typer.Option(metavar=metavar, help=help, autocompletion=completion.plugins(kind))


Controller = Annotated[str, plugin("controller", "Instead of the file's: a name or a path.")]
Duration = Annotated[str, typer.Option(metavar="TIME", help="Nominal length, for example '10 ms'.")]
UntilRest = Annotated[
    str,
    typer.Option(
        "--until-rest",
        metavar="MOST",
        help="Go on until the window is at rest, at most this long. Figures are of the last window. Not in a lab.",
    ),
]
Dilation = Annotated[
    str,
    typer.Option(
        metavar="NUMBER|auto", help=("Wall seconds per nominal second, or 'auto': measures this machine first.")
    ),
]
Seed = Annotated[int | None, typer.Option(metavar="NUMBER", min=0, help="Seed of everything random.")]
Engine = Annotated[EngineChoice | None, choice(EngineChoice, "By default what the file says, or the kernel.")]
EngineOrVirtual = Annotated[
    EngineChoice, choice(EngineChoice, "What carries the traffic; `kernel` is real packets (needs root).")
]
Repeat = Annotated[
    int, typer.Option(metavar="NUMBER", min=1, help="Runs of every combination, each with the next seed.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER", min=1, help="Runs at the same time, by default one; in the kernel they disturb each other."
    ),
]
On = Annotated[
    str | None,
    typer.Option(metavar="ray|ray://HOST:PORT", help="Run on the nodes of a Ray cluster (docs/howto/cluster.md)."),
]
Tuner = Annotated[str, plugin("tuner", "Instead of the file's: a name or a path.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any key of the experiment file; may be repeated, and is applied last.",
        autocompletion=completion.settings,
    ),
]

Trust = Annotated[bool, typer.Option("--trust", help="Let plugins run that a result brings.")]


def changes(engine: str | None, duration: str, dilation: str, seed: int | None, until_rest: str = "") -> dict[str, str]:
    """What these options say, by the keys of the experiment."""
    said = {"engine": engine, "time.duration": duration, "time.dilation": dilation, "seed": seed}
    said["time.until_rest"] = until_rest
    return {key: str(value) for key, value in said.items() if value not in {None, ""}}


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
    from testbed.runs.overrides import tell

    tell(resolved, set())
    print(resolved.as_json() if format is Format.json else resolved.as_yaml().rstrip())


def print_json(value: Any) -> None:
    from testbed.base.json_text import json_text

    print(json_text(value))


def answer(format: Format, value: Any, lines: Iterable[object]) -> None:
    """On stdout: a value as JSON, or what it amounts to, line by line."""
    if format is Format.json:
        print_json(value)
    else:
        for line in lines:
            print(line)


def chosen(among: Sequence[Running], name: str, none: str, which: str) -> Running:
    """The run that goes on under this name, or the only one. Raises BadInput, which says what to do if it has none."""
    from testbed.errors import BadInput, nearest

    if not among:
        raise BadInput(none)
    found = [one for one in among if name in ("", one.name)]
    names = [one.name for one in among]
    if not found:
        raise BadInput(f"no run '{name}' goes on here; {nearest(name, names)}")
    if len(found) > 1:
        raise BadInput(f"{len(found)} runs go on here; say which, {which}: {', '.join(names)}")
    return found[0]


def log_if(verbose: bool) -> None:
    """Log on stderr from now on, if that was asked for."""
    if verbose:
        from testbed.cli.verbose import log_to_stderr

        log_to_stderr()
