"""A YAML document that remembers where each value came from, so that an error can name the file and the line."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from testbed.base.strange import is_plain, visible
from testbed.errors import BadInput

KeyPath = tuple[str | int, ...]
EXPERIMENT = "an experiment: 'key: value' lines, such as 'traffic:'"
DEEPEST = 20  # an experiment has five levels; more is a YAML alias that contains itself
MOST_REPEATED = 1_000_000  # values that come from aliases: those of aliases multiply


@dataclass
class Document:
    """Plain data, and the origin of every key: ``incast.yaml, line 3`` or ``--set traffic.senders=8``."""

    name: str  # as the user wrote it, for messages
    data: dict[str, Any]
    origins: dict[KeyPath, str] = field(default_factory=dict)
    folder: Path = Path()  # paths that it gives are relative to
    options: set[KeyPath] = field(default_factory=set)  # what options have put into it
    sections: set[KeyPath] = field(default_factory=set)  # that are there only because options put something into them
    _built: set[yaml.Node] = field(default_factory=set, repr=False)  # while it is read
    _repeated: int = 0

    @classmethod
    def read(cls, file: Path, name: str = "", expected: str = EXPERIMENT) -> Document:
        """Parse a file. Raises BadInput if it cannot be read, is not YAML of what is ``expected``, or repeats a key."""
        name = name or str(file)
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise BadInput(f"cannot read {name}: {reason}") from None
        document = cls.parse(text, name, expected)
        document.folder = file.parent
        return document

    @classmethod
    def parse(cls, text: str, name: str, expected: str = EXPERIMENT) -> Document:
        """Parse text; ``name`` stands for the file in messages."""
        document = cls(name, {})
        try:
            root = _composed(text)
            if not isinstance(root, yaml.MappingNode):
                raise BadInput(f"{name}, line 1: expected {expected}")
            document.data = document._build(SafeConstructor(), root, ())
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            raise BadInput(
                f"{name}, line {line}: the control character \\x{error.character:02x} is not allowed in YAML; remove it"
            ) from None
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            told = f"not valid YAML: {error.problem}" if expected == EXPERIMENT else f"not {expected}: {error.problem}"
            raise BadInput(f"{name}, line {line}: {told}") from None
        except yaml.YAMLError as error:
            raise BadInput(f"{name}: not valid YAML: {error}") from None
        except RecursionError:
            raise BadInput(f"{name}: nested too deeply") from None
        finally:
            document._built.clear()  # copies of the document need no nodes
        return document

    def _build(self, constructor: SafeConstructor, node: yaml.Node, path: KeyPath) -> Any:
        where = f"{self.name}, line {node.start_mark.line + 1}"
        self.origins.setdefault(path, where)
        if len(path) > DEEPEST:
            raise BadInput(f"{where}: nested too deeply")
        self._repeated += node in self._built
        self._built.add(node)
        if self._repeated > MOST_REPEATED:
            raise BadInput(f"{where}: aliases make more than {MOST_REPEATED:,} values of this file")
        if isinstance(node, yaml.SequenceNode):
            return [self._build(constructor, item, (*path, index)) for index, item in enumerate(node.value)]
        if not isinstance(node, yaml.MappingNode):
            if not is_plain(node.value):  # as "\\x1b" in quotes: it would act on the terminal that shows it
                raise BadInput(
                    f"{where}: {dotted(path)}: the control character in {visible(node.value)!r} is not allowed"
                )
            try:
                return constructor.construct_object(node)
            except ValueError as error:  # an impossible date, for example
                raise BadInput(f"{where}: {error}") from None
        built: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = visible(str(key_node.value))
            inner = (*path, key)
            if key in built:
                line = key_node.start_mark.line + 1
                raise BadInput(
                    f"{self.name}, line {line}: {dotted(inner)}: given twice; first at {self.origins[inner]}"
                )
            self.origins[inner] = f"{self.name}, line {key_node.start_mark.line + 1}"
            built[key] = self._build(constructor, value_node, inner)
        return built

    def origin(self, path: KeyPath) -> str:
        """Where a key, or else the nearest key around it, was written. An option has written its own key only."""
        if path in self.origins:
            return self.origins[path]
        while path and (path not in self.origins or path in self.sections):
            path = path[:-1]
        return self.origins.get(path, self.name)

    def base(self, path: KeyPath) -> Path:
        """What a relative path at this key starts from: the folder of the file, or where the command was called."""
        return Path() if any(path[: len(given)] == given for given in self.options) else self.folder

    def put(self, path: KeyPath, value: Any, origin: str) -> None:
        """Set one key, making what is missing on the way; all that was below it is replaced."""
        path = self._as_written(path)
        at: Any = self.data
        for depth, key in enumerate(path[:-1]):
            below = self._get(at, key)
            if not isinstance(below, dict | list):
                # `controller: swift` and `--set controller.ai=1` mean {name: swift, ai: 1}
                below = {} if below is None else {"name": below}
                self._set(at, key, below, path[: depth + 1], origin)
                if path[: depth + 1] not in self.origins:
                    self.origins[path[: depth + 1]] = origin
                    self.sections.add(path[: depth + 1])
            at = below
        for known in [known for known in self.origins if known[: len(path)] == path]:
            del self.origins[known]
            self.sections.discard(known)
        self._set(at, path[-1], value, path, origin)
        self.origins[path] = origin
        self.options.add(path)

    def _as_written(self, path: KeyPath) -> KeyPath:
        """A number that is no place in a list is a key like any other."""
        at: Any = self.data
        found: KeyPath = ()
        for key in path:
            found = (*found, str(key) if isinstance(at, dict) else key)
            at = self._get(at, key) if isinstance(at, dict | list) else None
        return found

    @staticmethod
    def _get(at: Any, key: str | int) -> Any:
        if isinstance(at, dict):
            return at.get(str(key))
        return at[key] if isinstance(key, int) and 0 <= key < len(at) else None

    @staticmethod
    def _set(at: Any, key: str | int, value: Any, path: KeyPath, origin: str) -> None:
        if isinstance(at, dict):
            at[str(key)] = value
        elif isinstance(key, int) and 0 <= key < len(at):
            at[key] = value
        else:
            raise BadInput(f"{origin}: {dotted(path)}: the list has {len(at)} entries, numbered from 0")


def dotted(path: KeyPath) -> str:
    """A key as the user writes it: ``traffic.flows.0.size``."""
    return ".".join(str(part) for part in path)


def _composed(text: str) -> yaml.Node | None:
    """By PyYAML's C, in a fifteenth of the time; why a text is refused, its Python says, which is everywhere."""
    with suppress(AttributeError, yaml.YAMLError):
        return yaml.compose(text, yaml.CSafeLoader)
    return yaml.compose(text, yaml.SafeLoader)
