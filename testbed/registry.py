"""Finding, loading and configuring plugins: by entry point, or by path with no packaging at all.

``dcqcn`` is looked up among the installed entry points of its group (`GROUPS`); ``./my_cc.py:MyCC`` (or
``./my_cc.py``, if the file defines one plugin) is loaded from the file. Nothing here knows a particular plugin.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import logging
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path
from types import CodeType
from typing import Any

from pydantic import ValidationError

from testbed.base import code
from testbed.base.installed import entry_points
from testbed.base.missing import why_missing
from testbed.base.problems import problem
from testbed.base.watchdog import watched
from testbed.errors import BadInput, PluginFailed, UnusableDecision, nearest
from testbed.plugin import PluginConfig

log = logging.getLogger(__name__)
PYTHON = ".py"
IN_C = (".c", ".so", code.ARCHIVE)  # controllers
CHOOSER = "path chooser"
RECEIVER = "credit controller"
GROUPS = {
    "controller": "testbed.controllers",
    "tuner": "testbed.tuners",
    CHOOSER: "testbed.path_choosers",
    RECEIVER: "testbed.credit_controllers",
}


@dataclass(frozen=True)
class Plugin:
    """A loaded plugin class and where it came from."""

    kind: str  # a key of GROUPS
    name: str
    form: Any  # the class
    origin: str  # distribution and version, or the path
    file: Path

    @property
    def title(self) -> str:
        """For messages: ``controller 'dcqcn'``."""
        return f"{self.kind} '{self.name}'"

    @property
    def whence(self) -> str:
        """The title and the file."""
        return f"{self.title} ({self.file})"

    @property
    def digest(self) -> str:
        """SHA-256 of the file that defines the class: which code decided. Of a package, of all its sources."""
        return code.digest(self.file.parent if self.file.name == "__init__.py" else self.file)

    @property
    def summary(self) -> str:
        """First line of the class's docstring, or its module's."""
        doc = inspect.getdoc(self.form) or inspect.getdoc(sys.modules[self.form.__module__]) or ""
        return doc.strip().splitlines()[0] if doc.strip() else ""

    def configure(self, preset: str | None, options: dict[str, Any]) -> PluginConfig:
        """Validated options: the preset's values, overridden by ``options``. Raises BadInput."""
        presets = dict(self.form.presets)
        if preset is None:
            base: dict[str, Any] = dict(next(iter(presets.values()), {}))
        elif preset in presets:
            base = dict(presets[preset])
        else:
            raise BadInput(f"{self.kind} '{self.name}' has no preset '{preset}'; {nearest(preset, list(presets))}")
        try:
            with watched(self.whence, BadInput):
                config = self.form.Config(**{**base, **options})
        except ValidationError as error:
            raise BadInput(self._explain(error)) from None
        assert isinstance(config, PluginConfig)
        return config

    def _explain(self, error: ValidationError) -> str:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = list(self.form.Config.model_fields)
            return f"{self.kind} '{self.name}' has no option '{key}'; {nearest(key, known)}"
        option = f", option '{key}'" if key else ""  # a rule between options blames none of them
        return f"{self.kind} '{self.name}'{option}: {problem(first)}"


def find(kind: str, spec: str) -> Plugin:
    """The plugin that ``spec`` names. Raises BadInput with the nearest name, or what is wrong with the file."""
    return _logged(_pick(kind, *_from_path(spec)) if is_path(spec) else _installed(kind, spec))


def _logged(found: Plugin) -> Plugin:
    if log.isEnabledFor(logging.INFO):  # the digest reads files
        about = {"kind": found.kind, "plugin": found.name, "origin": found.origin, "digest": found.digest[:16]}
        log.info("plugin loaded", extra=about)
    return found


def is_path(spec: str) -> bool:
    """Whether ``spec`` names a file, and not what is installed."""
    return "/" in spec or Path(spec.partition(":")[0]).suffix in (PYTHON, *IN_C)


def absolute(spec: str, folder: Path) -> str:
    """A plugin's path from ``folder``, ``./my_cc.py:MyCC``; what is installed keeps its name."""
    if not is_path(spec):
        return spec
    text, colon, wanted = spec.partition(":")
    return str((folder / Path(text).expanduser()).resolve()) + colon + wanted


def _installed(kind: str, spec: str) -> Plugin:
    entries = _entries(kind)
    if spec not in entries:
        raise BadInput(f"no {kind} '{spec}' is installed; {nearest(spec, list(entries))}, or give a path: ./{spec}.py")
    return _from_entry(kind, entries[spec])


def find_any(spec: str) -> Plugin:
    """The plugin of any kind that ``spec`` names. Raises BadInput: what is wrong with the file, or the nearest name."""
    if not is_path(spec):
        kinds = [kind for kind in GROUPS if spec in _entries(kind)]
        if not kinds:
            known = [name for kind in GROUPS for name in _entries(kind)]
            raise BadInput(f"no plugin '{spec}' is installed; {nearest(spec, known)}, or give a path: ./{spec}.py")
        return _logged(_installed(kinds[0], spec))
    file = _from_path(spec)
    problems: list[str] = []
    for kind in GROUPS:
        try:
            return _logged(_pick(kind, *file))
        except BadInput as error:
            problems.append(str(error))
    raise BadInput("\n".join(problems))


def names(kind: str) -> list[str]:
    """Of all installed plugins of a kind; none is loaded."""
    return sorted(_entries(kind))


def available(kind: str) -> list[Plugin]:
    """All installed plugins of a kind, sorted by name."""
    return [_from_entry(kind, entry) for _, entry in sorted(_entries(kind).items())]


def failed(plugin: Plugin, error: Exception) -> PluginFailed:
    """What to raise when a callback of ``plugin`` raised ``error``: names the plugin, file and line.

    One that already names its plugin, which may be another of several, is raised as it is.
    """
    if isinstance(error, PluginFailed):
        return error
    if isinstance(error, UnusableDecision):
        return refused(plugin, error.callback, str(error), error.place)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).parent == plugin.file.parent]
    where = (own or list(frames))[-1]
    return PluginFailed(f"{plugin.title} ({where.filename}, line {where.lineno}): {type(error).__name__}: {error}")


class Blaming:
    """A block that calls ``plugin``: what it raises, `failed` says, except for errors of class ``but``.

    It stands around every decision in Python: as a generator it would cost three times as much.
    """

    def __init__(self, plugin: Plugin, but: type[Exception] = PluginFailed) -> None:
        self.plugin, self.but = plugin, but

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, self.but):
            raise failed(self.plugin, error) from error


def refused(
    plugin: Plugin, callback: Callable[..., object], why: str, place: tuple[str, int] | None = None
) -> PluginFailed:
    """What to raise when what ``callback`` of ``plugin`` decided cannot be used; ``place``: file and line, if known."""
    code = inspect.unwrap(callback).__code__
    file, line = place or (code.co_filename, code.co_firstlineno)
    return PluginFailed(f"{plugin.title} ({file}, line {line}): {why}")


def _entries(kind: str) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUPS[kind]):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise BadInput(
                f"two installed {kind}s are named '{entry.name}': {other.value} and {entry.value}; uninstall one"
            )
    return found


def _from_entry(kind: str, entry: EntryPoint) -> Plugin:
    with watched(f"{kind} '{entry.name}' ({entry.value})", BadInput), redirect_stdout(sys.stderr):  # it is for results
        try:
            form = _entry_in_c(entry) if entry.attr.endswith(IN_C) else entry.load()
        except (ImportError, AttributeError) as error:
            raise BadInput(f"{kind} '{entry.name}' ({entry.value}) cannot be loaded: {error}") from error
    if (name := getattr(form, "name", entry.name)) != entry.name:  # results would be of a plugin that nobody named
        raise BadInput(
            f"{kind} '{entry.name}' ({entry.value}): its class is named '{name}'; give entry point and class one name"
        )
    origin = _told(entry.dist) if entry.dist else entry.value
    return Plugin(kind, entry.name, form, origin, Path(inspect.getfile(form)))


def _entry_in_c(entry: EntryPoint) -> Any:
    """The class of a C file in a package: ``my_package:my_cc.c``."""
    (folder,) = importlib.import_module(entry.module).__path__
    file = Path(folder) / entry.attr
    if not file.is_file():
        raise ImportError(f"there is no {file}")
    return _pick("controller", str(file), "", _in_c(file), file).form


@cache
def _told(package: Distribution) -> str:
    """Its name and version, for which all of its metadata is read: once, and not for each of its plugins."""
    return f"{package.name} {package.version}"


class _AsItIs(SourceFileLoader):
    """Compiles a file whenever it is loaded.

    Python would take the bytecode that it keeps of a file which has its size still, and was changed in the same second:
    whoever writes 0.9 for 0.3 between two runs of half a second would get the first one's results again.
    """

    def get_code(self, fullname: str) -> CodeType:
        file = self.get_filename(fullname)
        return self.source_to_code(self.get_data(file), file)


def _from_path(spec: str) -> tuple[str, str, Any, Path]:
    """The file as it was named, the class that was asked for (or nothing), the module, and the file."""
    text, _, wanted = spec.partition(":")
    file = Path(text).expanduser().resolve()
    if not file.exists():
        raise BadInput(f"plugin file '{text}' {why_missing(text, file)}")
    if file.is_dir() or file.suffix in IN_C:  # a folder: a program for a card
        return text, wanted, _in_c(file), file
    if file.suffix != PYTHON:
        raise BadInput(
            f"plugin file '{text}' is neither Python nor C: a plugin is a class in a Python file, as in "
            "./my_cc.py:MyCC, a controller in C (./my_cc.c or ./my_cc.so), the folder of a program for DOCA PCC, or "
            "the name of an installed one ('testbed list')"
        )
    name = f"testbed_plugin_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    loader = _AsItIs(name, str(file))
    module_spec = importlib.util.spec_from_loader(name, loader)
    assert module_spec is not None
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    with watched(f"plugin file '{text}'", BadInput), redirect_stdout(sys.stderr):  # stdout is for results
        try:
            loader.exec_module(module)
        except (Exception, SystemExit) as error:  # whatever the user's file raises is theirs to see, in one line
            line = error.lineno if isinstance(error, SyntaxError) else _line_in(error, file)
            raise BadInput(f"plugin file '{text}', line {line}: {type(error).__name__}: {error}") from error
    return text, wanted, module, file


def _in_c(file: Path) -> Any:
    from testbed.compiled.c_form import module_of

    return module_of(file)


def _line_in(error: BaseException, file: Path) -> int | str:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == file and frame.lineno]
    return lines[-1] if lines else "?"


def _pick(kind: str, text: str, wanted: str, module: Any, file: Path) -> Plugin:
    base = _base(kind)
    own = {
        name: form
        for name, form in vars(module).items()
        if inspect.isclass(form) and issubclass(form, base) and form.__module__ == module.__name__
        and not inspect.isabstract(form)
    }  # fmt: skip
    if wanted and wanted not in own:
        raise BadInput(f"'{text}' defines no {kind} class '{wanted}'; {nearest(wanted, list(own))}")
    if not wanted and len(own) != 1:
        found = f"it defines {', '.join(own)}: name one, as in {text}:{next(iter(own))}" if own else "it defines none"
        raise BadInput(f"'{text}' should define one {kind} (a subclass of {base.__name__}); {found}")
    form = own[wanted] if wanted else next(iter(own.values()))
    return Plugin(kind, getattr(form, "name", form.__name__), form, str(file), file)


def _base(kind: str) -> type:
    if kind == "controller":
        from testbed.controller import ControllerBase

        return ControllerBase
    if kind == CHOOSER:
        from testbed.chooser import PathChooser

        return PathChooser
    if kind == RECEIVER:
        from testbed.receiver import CreditController

        return CreditController
    from testbed.tuner import Tuner

    return Tuner
