"""From a name or a file to a checked experiment with its plugins, or to one message that says where it is wrong.

    resolved = resolve(load("incast-64").apply(["traffic.senders=8"]))

Everything that can be known before a rack is built is found here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from testbed.base.installed import entry_points
from testbed.base.missing import why_missing
from testbed.base.strange import visible
from testbed.controller import CompiledController, Signal
from testbed.errors import BadInput, nearest
from testbed.experiment import chosen, configured, meaningless
from testbed.experiment.apps import App
from testbed.experiment.choice import SWITCHED, PluginChoice
from testbed.experiment.document import Document, KeyPath, dotted
from testbed.experiment.edits import Edits
from testbed.experiment.messages import explain
from testbed.experiment.model import Experiment
from testbed.experiment.preflight import try_chooser, try_controller, try_receiver, try_tuner
from testbed.experiment.resolved import Decider, Resolved
from testbed.experiment.topology.framing import MOST_INT_HOPS
from testbed.plugin import PluginConfig
from testbed.registry import CHOOSER, RECEIVER, Plugin, absolute, find, is_path, names

log = logging.getLogger(__package__)
GROUP = "testbed.experiments"
PLUGINS = ("controller", "tuner", "routing", "receiver")  # keys that name one
MOST_DIGITS = 9  # of a place in a list
FILE_KEYS = ("file", "sizes", "config")  # of racks and traffic patterns: paths are relative to the experiment file

Admit = Callable[[list[str], list[App]], None]  # raises BadInput for a plugin or an app that must not run


@dataclass(frozen=True)
class Loaded:
    """The document of an experiment, whose marks give messages their line, and what it says once all is changed."""

    document: Document
    admit: Callable[[list[str], list[App]], None] = lambda _plugins, _apps: (
        None
    )  # raises BadInput for what must not run
    told: tuple[str, ...] = ()  # what became of options when plugins were chosen beside the file
    configuration: tuple[str, ...] = ()  # what a switch's own configuration says, and what of it is not understood
    replaced: bool = False  # whether its controller is another one than the file's

    @cached_property
    def experiment(self) -> Experiment:
        """Checked only now: what is wrong with a file may be right under its options. Raises BadInput."""
        document = self.configured().document
        try:
            return Experiment.model_validate(document.data)
        except ValidationError as error:
            raise BadInput(explain(error, document)) from None

    def configured(self) -> Loaded:
        """With what the switch's own configuration says, if the experiment names one."""
        if configured.config_of(self.document) is None:
            return self
        loaded = self._copy()
        told = configured.configure(loaded.document)
        return replace(loaded, configuration=tuple(told))

    def apply(self, settings: Iterable[str], option: str = "--set") -> Loaded:
        """``key=value`` for any key; the value is YAML, so that ``8``, ``10 us`` and ``null`` mean what they should."""
        loaded = self._copy()
        for setting in settings:
            key, equals, text = setting.partition("=")
            origin = f"{option} {setting}"
            if not equals or not key.strip():
                raise BadInput(f"{origin}: expected key=value, for example {option} traffic.senders=8")
            loaded._put(chosen.aimed(loaded.document, visible(key.strip()), origin), text, origin)
        return loaded

    def option(self, key: str, text: str, option: str) -> Loaded:
        """An option that stands for a key, such as ``--duration "10 ms"``."""
        loaded = self._copy()
        loaded._put(key, text, f"{option} {text}")
        return loaded

    def _copy(self) -> Loaded:
        return replace(self, document=deepcopy(self.document))

    def _put(self, key: str, text: str, origin: str) -> None:
        path, value = _path(key), Document.parse(f"value: {text}", origin).data["value"]
        self.document.put(path, _from_here(path, value), origin)

    def choose(self, kind: str, name: str, option: str) -> Loaded:
        """A controller or tuner by name. Another one than the file's loses the options of the file's choice."""
        loaded = self._copy()
        told = chosen.choose(loaded.document, kind, name, option)
        another = chosen.name_of(loaded.document, "controller") != chosen.name_of(self.document, "controller")
        return replace(loaded, told=(*self.told, told) if told else self.told, replaced=self.replaced or another)

    def with_needs(self, controller: Plugin) -> Loaded:
        """With what a controller needs of switches and nobody has said."""
        loaded = self._copy()
        told = chosen.bring(loaded.document, controller.name, controller.form, new=self.replaced)
        return replace(loaded, told=(*self.told, told)) if told else self


def load(path_or_name: str) -> Loaded:
    """An experiment by name, or from a file (``.yaml``, or anything with a slash). Raises BadInput if it is none."""
    if "/" in path_or_name or path_or_name.endswith((".yaml", ".yml")):
        file = Path(path_or_name).expanduser()
        if not file.is_file():
            raise BadInput(f"experiment file '{path_or_name}' {why_missing(path_or_name, file)}")
        return _read(file, path_or_name)
    known = available()
    if path_or_name not in known:
        hint = nearest(path_or_name, list(known))
        raise BadInput(f"no experiment is named '{path_or_name}'; {hint}, or give a path: ./{path_or_name}.yaml")
    return _read(known[path_or_name], known[path_or_name].name)


def recorded(experiment: Mapping[str, Any], name: str, admit: Admit) -> Loaded:
    """The experiment that a result holds, all paths absolute; ``name`` stands for its file in messages."""
    return Loaded(Document(name, deepcopy(dict(experiment))), admit)


def available() -> dict[str, Path]:
    """All experiments of installed packages (entry-point group ``testbed.experiments``): name to file."""
    found: dict[str, Path] = {}
    for package in sorted({entry.value for entry in entry_points(group=GROUP)}):
        with as_file(files(package)) as folder:
            for file in folder.glob("*.yaml"):
                other = found.setdefault(file.stem, file)
                if other != file:
                    raise BadInput(f"two experiments are named '{file.stem}': {other} and {file}; rename one")
    return dict(sorted(found.items(), key=lambda item: _natural(item[0])))


def _natural(name: str) -> tuple[str, int]:
    stem, _, number = name.rpartition("-")
    return (stem, int(number)) if number.isdecimal() else (name, 0)


def resolve(loaded: Loaded, changed: Callable[[Plugin], Plugin] = lambda plugin: plugin) -> Resolved:
    """Load and configure the plugins; ``changed``: another controller instead of the one that is named.

    Raises BadInput for a plugin or an option that does not exist or fit.
    """
    loaded = loaded.configured()
    experiment = loaded.experiment
    meaningless.refuse(experiment, loaded.document)
    choices = (experiment.controller, *experiment.controllers, experiment.tuner, experiment.routing)
    loaded.admit([one.name for one in choices], experiment.apps)
    controller, controller_config = _plugin("controller", ("controller",), experiment.controller, loaded)
    loaded = loaded.with_needs(controller)
    experiment, controller = loaded.experiment, changed(controller)
    others = [
        Decider(*_plugin("controller", ("controllers", number), choice, loaded), choice.compiled, choice.isolate)
        for number, choice in enumerate(experiment.controllers)
    ]
    tuner, tuner_config = _plugin("tuner", ("tuner",), experiment.tuner, loaded)
    receiving = experiment.receiver
    chooser, chooser_config = _chooser(loaded) if experiment.routing.by_sender else (None, None)
    receiver, receiver_config = _plugin(RECEIVER, ("receiver",), receiving, loaded) if receiving else (None, None)
    resolved = Resolved(
        experiment, controller, controller_config, tuner, tuner_config, tuple(others), chooser, chooser_config,
        receiver, receiver_config, "\n".join(filter(None, ["; ".join(loaded.told), *loaded.configuration])),
    )  # fmt: skip
    places: list[KeyPath] = [("controller",), *(("controllers", number) for number in range(len(others)))]
    if Signal.INT in resolved.signals and resolved.layout.most_hops > MOST_INT_HOPS:
        raise BadInput(
            f"{loaded.document.origin(places[0])}: {resolved.title} wants INT of every switch, and packets have room "
            f"for {MOST_INT_HOPS}; a path has {resolved.layout.most_hops}: shorten it, or take a controller without INT"
        )
    if Signal.INT in resolved.signals and experiment.routing.name == "valiant":
        raise BadInput(
            f"{loaded.document.origin(('routing',))}: routing: {resolved.title} wants INT of as many switches as the "
            "shortest path has, and with 'valiant' packets go longer ways; say 'spray', or take one without INT"
        )
    in_batches = [one.plugin.name for one in resolved.deciders if not issubclass(one.plugin.form, CompiledController)]
    if Signal.SRC in resolved.signals and in_batches:
        raise BadInput(
            f"{loaded.document.origin(places[0])}: {resolved.title} wants SRCs, which only controllers per flow get; "
            f"'{in_batches[0]}' decides in batches: leave it out"
        )
    if experiment.pair is not None and in_batches:
        raise BadInput(
            f"{loaded.document.origin(('queue_pairs',))}: queue_pairs: 'per-pair' is for controllers per flow; "
            f"'{in_batches[0]}' decides in batches: say 'per-message'"
        )
    if resolved.src_threshold and experiment.rack.switch.tables:
        raise BadInput(
            f"{loaded.document.origin(('rack', 'switch'))}: rack.switch: {resolved.title} needs notices of switches, "
            "whose ports have a queue for data and one for answers; leave classes, queues and marking out"
        )
    if resolved.src_threshold and receiver:
        raise BadInput(
            f"{loaded.document.origin(('receiver',))}: receiver: {resolved.title} needs notices of switches, and flows "
            "have them or credits; leave one of them out"
        )
    if resolved.src_threshold and experiment.routing.many_paths:
        raise BadInput(
            f"{loaded.document.origin(('routing',))}: routing: {resolved.title} needs notices of switches, "
            "which are of the one path of a flow; say 'ecmp'"
        )
    checks = [partial(try_controller, resolved, one) for one in resolved.deciders]
    checks += [partial(try_tuner, resolved), partial(try_chooser, resolved), partial(try_receiver, resolved)]
    for path, check in zip([*places, ("tuner",), ("routing",), ("receiver",)], checks, strict=True):
        try:
            check()
        except BadInput as error:
            raise BadInput(f"{loaded.document.origin(path)}: {error}") from error
    _check_events(resolved, loaded.document)
    about = {"experiment": experiment.name, "hosts": experiment.hosts, "seed": experiment.seed}
    log.info("preflight passed", extra={**about, "controller": controller.name, "tuner": tuner.name})
    return resolved


def _check_events(resolved: Resolved, document: Document) -> None:
    """Settings that are to change: whether they can."""
    edits = Edits(resolved)
    for number, event in enumerate(resolved.experiment.events):
        for key, value in event.set.items():
            try:
                edits.read({key: value})
            except BadInput as error:
                path: KeyPath = ("events", number, "set", key)
                raise BadInput(f"{document.origin(path)}: events.{number}.set: {error}") from None


def _chooser(loaded: Loaded) -> tuple[Plugin, PluginConfig]:
    """The path chooser that is named instead of what switches do."""
    choice, known = loaded.experiment.routing, [*SWITCHED, *names(CHOOSER)]
    if not is_path(choice.name) and choice.name not in known:
        hint = f"{nearest(choice.name, known)}, or give a path: ./{choice.name}.py"
        raise BadInput(f"{loaded.document.origin(('routing',))}: routing: nothing is named '{choice.name}'; {hint}")
    return _plugin(CHOOSER, ("routing",), choice, loaded)


def _plugin(kind: str, at: KeyPath, choice: PluginChoice, loaded: Loaded) -> tuple[Plugin, PluginConfig]:
    """The plugin of a kind that is chosen at a key."""
    path: KeyPath = (*at, "name")
    try:
        plugin = find(kind, choice.name)
        path = (*at, "preset")
        if choice.preset is not None:
            plugin.configure(choice.preset, {})
        path = at
        return plugin, _with_files(plugin, at, choice, loaded.document)
    except BadInput as error:
        if path == at:  # the option that the message quotes
            path += tuple(key for key in choice.options if f"option '{key}" in str(error))[:1]
        raise BadInput(f"{loaded.document.origin(path)}: {dotted(path)}: {error}") from error


def _with_files(plugin: Plugin, at: KeyPath, choice: PluginChoice, document: Document) -> PluginConfig:
    """Its configuration; an option that names a file, such as a policy, is relative to where it was given."""
    config = plugin.configure(choice.preset, choice.options)
    named = {key: choice.options[key] for key in plugin.form.inputs(config) if choice.options.get(key)}
    if not named:
        return config
    files = {key: _resolved(str(value), document.base((*at, key))) for key, value in named.items()}
    return plugin.configure(choice.preset, {**choice.options, **files})


def _read(file: Path, name: str) -> Loaded:
    document = Document.read(file, name)
    log.info("experiment read", extra={"file": file})
    for kind in PLUGINS:
        _anchor(document.data, kind, file.parent)
    sharing = document.data.get("controllers")
    for choice in sharing if isinstance(sharing, list) else []:
        _anchor({"": choice}, "", file.parent)
    for block in ("rack", "traffic"):
        _anchor_files(document.data.get(block), file.parent)
    _anchor_folders(document.data.get("apps"), file.parent)
    document.data.setdefault("name", file.stem)
    return Loaded(document)


def _path(key: str) -> KeyPath:
    return tuple(int(part) if part.isdecimal() and len(part) <= MOST_DIGITS else part for part in key.split("."))


def _anchor(data: dict[str, Any], kind: str, folder: Path) -> None:
    """A plugin path in a file is relative to that file, wherever the command is called."""
    choice = data.get(kind)
    if isinstance(choice, str):
        data[kind] = absolute(choice, folder)
    elif isinstance(choice, dict) and isinstance(choice.get("name"), str):
        choice["name"] = absolute(choice["name"], folder)


def _anchor_files(traffic: object, folder: Path) -> None:
    """The same for files that racks and traffic patterns read, at any depth."""
    if isinstance(traffic, list):
        for value in traffic:
            _anchor_files(value, folder)
    elif isinstance(traffic, dict):
        for key, value in traffic.items():
            if key in FILE_KEYS and isinstance(value, str):
                traffic[key] = _file(key, value, folder)
            else:
                _anchor_files(value, folder)


def _anchor_folders(apps: object, folder: Path) -> None:
    """The same for the working folders of apps."""
    for app in apps if isinstance(apps, list) else []:
        if isinstance(app, dict) and isinstance(named := app.get("folder"), str) and named:
            app["folder"] = _resolved(named, folder)


def _file(key: str, value: str, folder: Path) -> str:
    """Absolute, unless it is the name of something shipped."""
    named = key == "sizes" and "/" not in value and not value.endswith((".yaml", ".yml"))
    return value if named else _resolved(value, folder)


def _from_here(path: KeyPath, value: Any) -> Any:
    if path[0] in ("rack", "traffic") and path[-1] in FILE_KEYS and isinstance(value, str):
        return _file(str(path[-1]), value, Path())
    if path[0] in ("rack", "traffic"):
        _anchor_files(value, Path())
    if path == ("apps",):
        _anchor_folders(value, Path())
    if path[0] == "apps" and path[2:] == ("folder",) and isinstance(value, str) and value:
        return _resolved(value, Path())
    named = path in {(kind,) for kind in PLUGINS} or (path[-1] == "name" and path[0] != "traffic")
    return absolute(value, Path()) if named and isinstance(value, str) else value


def _resolved(path: str, folder: Path) -> str:
    return str((folder / Path(path).expanduser()).resolve())
