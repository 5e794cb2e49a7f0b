"""From the options of a sweep to its cells: the product of all that was listed, each one resolved and checked."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.errors import BadInput
from testbed.experiment.chosen import name_of, target
from testbed.experiment.load import Loaded, resolve
from testbed.experiment.resolved import Resolved
from testbed.registry import absolute
from testbed.results.sweep_plan import Cell
from testbed.runs.overrides import from_user, tell

MOST_CELLS = 10_000
LONGEST_NAME = 160  # a file name may have 255 bytes, and a run writes beside it under a longer one
OPENING, CLOSING = "[{(", "]})"


@dataclass(frozen=True)
class Request:
    """What a sweep is asked for: lists of names and ``KEY=VALUE`` texts as `testbed run` takes them one by one."""

    experiment: str
    controllers: tuple[str, ...]  # empty: the file's
    tuners: tuple[str, ...]
    axes: tuple[tuple[str, tuple[str, ...]], ...]  # key to its values
    repeat: int
    seed: int | None = None  # of the first repeat; None: the file's

    @classmethod
    def parse(
        cls, experiment: str, controller: str, tuner: str, settings: Sequence[str], *, repeat: int, seed: int | None
    ) -> Request:
        """From the command line's texts. Raises BadInput."""
        axes: dict[str, tuple[str, ...]] = {}
        for setting in settings:
            key, equals, values = setting.partition("=")
            key = key.strip()
            if not equals or not key:
                raise BadInput(f"--set {setting}: expected key=value or key=value,value,...")
            if key == "seed":
                raise BadInput("--set seed: a sweep sets it itself; use --repeat, and --seed for the first one")
            if key in axes:
                raise BadInput(f"--set {key}: given twice; list its values with commas: --set {key}=2,8")
            axes[key] = split(values, f"--set {key}")
        if repeat < 1:
            raise BadInput(f"--repeat must be at least 1, got {repeat}")
        controllers = split(controller, "--controller") if controller else ()
        tuners = split(tuner, "--tuner") if tuner else ()
        return cls(experiment, controllers, tuners, tuple(axes.items()), repeat, seed)


def split(text: str, option: str) -> tuple[str, ...]:
    """A list by commas. Commas inside brackets, braces or quotes belong to a value: ``[1, 2],[3]`` are two lists.

    Raises BadInput for an empty value, and for one that is there twice.
    """
    values, depth, quote, begin = [], 0, "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "," and depth == 0:
            values.append(text[begin:at].strip())
            begin = at + 1
        else:
            depth += (letter in OPENING) - (letter in CLOSING)
    values.append(text[begin:].strip())
    if "" in values and len(values) > 1:
        raise BadInput(f"{option} {text}: an empty value in the list")
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        raise BadInput(f"{option} {text}: {twice} is there twice; --repeat runs every cell several times")
    return tuple(values)


@dataclass(frozen=True)
class Combination:
    """One choice of every list, for all repeats."""

    plugins: dict[str, str]
    settings: dict[str, str]

    @property
    def told(self) -> str:
        """For messages: ``controller dcqcn, traffic.senders=8``."""
        plugins = [f"{kind} {name}" for kind, name in self.plugins.items()]
        return ", ".join([*plugins, *(f"{key}={value}" for key, value in self.settings.items())])

    def resolve(self, loaded: Loaded) -> Resolved:
        """As `testbed run` would. Raises BadInput that names the combination."""
        try:
            for kind, name in self.plugins.items():
                loaded = loaded.choose(kind, name, f"--{kind}")
            return resolve(loaded.apply([f"{key}={value}" for key, value in self.settings.items()]))
        except BadInput as error:
            raise BadInput(f"the cell with {self.told}: {error}" if self.told else str(error)) from None


def cells(request: Request) -> list[Cell]:
    """Every cell, in the order of the lists. Raises BadInput if any of them could not run."""
    amount = request.repeat
    for values in (request.controllers, request.tuners, *(values for _, values in request.axes)):
        amount *= max(len(values), 1)
    if amount > MOST_CELLS:
        raise BadInput(f"the sweep would have {amount:,} cells, at most {MOST_CELLS:,} are allowed")
    loaded = from_user(request.experiment)
    return list(_named(_cells(request, loaded)))


def _cells(request: Request, loaded: Loaded) -> Iterator[tuple[list[str], Cell]]:
    varied = [key for key, values in request.axes if len(values) > 1]
    told: set[str] = set()
    for combination in _combinations(request, loaded):
        resolved = combination.resolve(loaded)
        tell(resolved, told)
        first = resolved.experiment.seed if request.seed is None else request.seed
        label = [resolved.controller.name, *([resolved.tuner.name] if request.tuners else [])]
        label += [f"{_short(key, varied)}={combination.settings[key]}" for key in varied if key in combination.settings]
        # What was found is written down, so that a path means the same from another folder.
        plugins = {kind: getattr(resolved.experiment, kind).name for kind in combination.plugins}
        cell = Cell.of(resolved, _experiment(request), plugins, combination.settings, first)
        for seed in range(first, first + request.repeat):
            yield [*label, f"seed={seed}"], cell.repeated(seed)


def _combinations(request: Request, loaded: Loaded) -> Iterator[Combination]:
    """Keys that are for one controller or tuner, ``controller[dcqcn].window``, only where that one is."""
    asked = {"controller": request.controllers, "tuner": request.tuners}
    there = {kind: [absolute(name, Path()) for name in names] or [name_of(loaded.document, kind)]
             for kind, names in asked.items()}  # fmt: skip
    for key, _ in request.axes:
        kind, name, _ = target(key)
        if kind and name not in there[kind]:
            raise BadInput(f"--set {key}: no {kind} of the sweep is {name}; allowed: {', '.join(there[kind])}")
    for names in itertools.product(*there.values()):
        now = dict(zip(there, names, strict=True))
        axes = [(key, values) for key, values in request.axes if _is_for(key, now)]
        for values in itertools.product(*(values for _, values in axes)):
            plugins = {kind: name for kind, name in now.items() if asked[kind]}
            yield Combination(plugins, dict(zip((key for key, _ in axes), values, strict=True)))


def _is_for(key: str, now: Mapping[str, str]) -> bool:
    kind, name, _ = target(key)
    return not kind or now[kind] == name


def _experiment(request: Request) -> str:
    named = request.experiment
    return str(Path(named).expanduser().resolve()) if "/" in named or named.endswith((".yaml", ".yml")) else named


def _named(found: Iterator[tuple[list[str], Cell]]) -> Iterator[Cell]:
    """Folder names, readable and unique. Raises BadInput for two cells that are the same."""
    taken: dict[str, Cell] = {}
    same: dict[str, str] = {}
    for label, cell in found:
        plain = ",".join(re.sub(r"[^A-Za-z0-9._+=-]+", "-", part).strip("-.") for part in label)
        if len(plain) > LONGEST_NAME:
            plain = f"{plain[:LONGEST_NAME]}-{hashlib.sha256(plain.encode()).hexdigest()[:8]}"
        name = next(one for one in _numbered(plain) if one not in taken)
        other = same.setdefault(cell.identity, name)
        if other != name:
            raise BadInput(f"two cells of the sweep are the same: {other} and {name} ({', '.join(label)})")
        taken[name] = cell.model_copy(update={"name": name})
        yield taken[name]


def _numbered(name: str) -> Iterator[str]:
    yield name
    for number in itertools.count(2):
        yield f"{name}-{number}"


def _short(key: str, keys: Sequence[str]) -> str:
    last = key.rpartition(".")[2]
    return last if sum(other.rpartition(".")[2] == last for other in keys) == 1 else key
